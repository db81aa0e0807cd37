"""Erasures of people: what is gone, what stays, and that they can be cancelled, interrupted and run twice."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from account_area.models import AccountSession
from account_area.personal_data import erase_sessions
from agents.models import Agent, AgentRequest, AgentToken
from agents.services import approve_request, cancel_request, reject_request, undo_decision
from config import extension_points
from kernel.changes import personal_data, reading
from kernel.changes.channels import Channel, WholeLog
from kernel.changes.log import NewChange, append
from kernel.changes.models import Change
from kernel.changes.reading import Batch
from kernel.changes.unread import find_pending
from kernel.database.sql import fetch_one
from kernel.jobs import leases
from kernel.jobs.queue import run_due
from kernel.personal_data import Subject
from messaging.accounts.deleted import HEIR_IDS, HEIRS, deleted_account
from messaging.accounts.exceptions import HandleTaken, LastSuperAdmin
from messaging.accounts.services import register_person
from messaging.inbox.events import SERVICE
from messaging.models import (
    Account,
    Decision,
    ErasedHandleKey,
    HandleClaim,
    Message,
    MessageVersion,
    PersonErasure,
    PostsChoice,
    ReadyReason,
    SavedList,
)
from messaging.moderation.bulk_jobs import record_job
from messaging.moderation.services import hide_message
from messaging.privacy import erased_handles, erasing
from messaging.privacy.erasing import cancel_erasure, request_erasure
from messaging.privacy.exceptions import ErasureNotFound
from reactions.models import Reaction
from tests.agents.factories import RequestFactory, agent_with_token
from tests.agents.racing import race
from tests.api import Api
from tests.commands.running import refused, run_json
from tests.factories import CommunityFactory, MessageFactory, PersonFactory, SuperAdminFactory
from tests.messaging.test_hiding import wrong_counts
from tests.personal_data.life import AGENT_HANDLE, HANDLE, MARK, PASSWORD, TRACES, Life, live, posted
from tests.security.dumps import dump

NOW = timedelta()
ANONYMOUS, DELETED = PostsChoice.ANONYMOUS, PostsChoice.DELETED
NOBODY = {**deleted_account("human"), "id": str(deleted_account("human")["id"])}


@pytest.fixture
def life(transactional_db: None, settings: Any) -> Life:
    return live(settings)


def erase(person: Account, posts: PostsChoice = DELETED) -> None:
    request_erasure(person=person, posts=posts, by=person, wait=NOW)
    assert run_due("erasures") == 1


def found(texts: tuple[str, ...]) -> list[str]:
    dumped = dump()
    return [text for text in texts if text in dumped or text.encode().hex() in dumped]


@pytest.mark.slow
@pytest.mark.processes
def test_with_the_posts_nothing_of_a_person_is_left_in_a_dump(life: Life) -> None:
    ids = (str(life.person.pk), str(life.agent.account.pk))
    assert set(found((*TRACES, MARK))) == {*TRACES, MARK}
    erase(life.person)
    assert found((*TRACES, MARK)) == []
    assert not Account.objects.filter(pk__in=ids).exists()
    assert not wrong_counts()
    tombstone = Api().get(f"/api/messages/{life.asked.pk}").json
    assert (tombstone["status"], tombstone["content"], tombstone["author"]) == ("deleted", "", NOBODY)
    assert Api().get(f"/api/messages/{life.alone}").status == 404
    assert Api().get(f"/api/messages/{life.answer.pk}").json["reactionTotal"] == 0


@pytest.mark.slow
@pytest.mark.processes
def test_without_the_posts_only_their_texts_stay_as_of_a_deleted_account(life: Life) -> None:
    erase(life.person, ANONYMOUS)
    assert found(TRACES) == []
    assert not wrong_counts()
    post = Api().get(f"/api/messages/{life.asked.pk}").json
    assert (post["content"], post["author"]) == (f"A question, {MARK}", NOBODY)
    listed = Api().get("/api/messages", pageId=life.asked.page_id).json["messages"]
    assert [message["quote"]["author"] for message in listed if message["quote"]] == [NOBODY]
    replies = Api().get("/api/messages", pageId=life.asked.page_id, parentId=life.answer.pk).json["messages"]
    assert [reply["author"]["kind"] for reply in replies] == ["agent"]
    assert NOBODY in Api().get("/v1/presence/participants", pageId=life.asked.page_id).json["participants"]
    feed = Client().get(f"/feeds/pages/{life.asked.page_id}.json").json()
    assert {"Deleted", "By Stander"} == {item["authors"][0]["name"] for item in feed["items"]}


def test_a_reply_to_a_post_of_an_erased_person_is_an_event_for_nobody(life: Life) -> None:
    erase(life.person, ANONYMOUS)
    heirs = set(Account.objects.filter(handle__in=HEIRS).values_list("pk", flat=True))
    assert heirs == set(HEIR_IDS.values())
    assert SERVICE not in heirs
    before = Change.objects.exclude(account_id=None).count()
    posted(Api.as_person(life.other), "Still there?", page=life.asked.page, parentId=str(life.asked.pk))
    hide_message(message_id=life.asked.pk, by=life.boss)
    assert Change.objects.exclude(account_id=None).count() == before


def test_what_others_did_stays_and_decisions_name_a_deleted_account(life: Life) -> None:
    erase(life.person)
    assert Message.objects.filter(author=life.other, status="published").count() == 3
    events = Api.as_person(life.other).get("/v1/inbox").json["events"]
    assert {event["actor"]["handle"] for event in events if event["actor"]} == {"deleted"}
    looked = LogEntry.objects.get(change_message__startswith="Looked at")
    assert (looked.user.handle, looked.object_repr) == ("deleted-human", "@bystander")
    assert LogEntry.objects.get(change_message__startswith="Told about").change_message == "Told about @deleted"
    changes = Api().get("/v1/changes", pageId=life.asked.page_id, types="reaction.added,reaction.removed").json
    assert changes["changes"]
    assert not Reaction.objects.exists()


@pytest.mark.usefixtures("transactional_db", "bystander")
def test_sessions_and_agents_end_with_the_request_and_return_when_it_is_cancelled(life: Life) -> None:
    session, stopped = Client(), agent_with_token(requester=life.person).account
    session.force_login(life.person)
    of_another = Client()
    of_another.force_login(life.other)
    Account.objects.filter(pk=stopped.pk).update(is_active=False)
    request_erasure(person=life.person, posts=DELETED, by=life.person)
    assert life.agent.api.get("/v1/agent/self").status == 401
    assert life.api.get("/v1/inbox").status == 401
    assert not session.get("/account/").wsgi_request.user.is_authenticated
    assert of_another.get("/account/").wsgi_request.user.is_authenticated
    refusal = Api().post("/api/auth/login", {"handle": HANDLE, "password": PASSWORD})
    assert (refusal.status, refusal.error) == (403, "account_being_erased")
    asked = AgentRequest.objects.filter(requester=life.person)
    assert set(asked.values_list("status", flat=True)) == {"approved", "cancelled"}
    assert run_due("erasures") == 0
    cancel_erasure(person=life.person, by=life.person)
    assert life.agent.api.get("/v1/agent/self").status == 200
    # One that was stopped before stays so.
    assert not Account.objects.get(pk=stopped.pk).is_active
    assert Api().post("/api/auth/login", {"handle": HANDLE, "password": PASSWORD}).status == 200
    with pytest.raises(ErasureNotFound):
        cancel_erasure(person=life.person, by=life.person)


@pytest.mark.django_db
def test_a_request_that_is_approved_meanwhile_does_not_refuse_the_erasure(monkeypatch: pytest.MonkeyPatch) -> None:
    request, boss = RequestFactory(), SuperAdminFactory()

    def cancel_after_approval(*, request_id: UUID, by: Account) -> AgentRequest:
        approve_request(request_id=request_id, by=boss)
        return cancel_request(request_id=request_id, by=by)

    monkeypatch.setattr("agents.personal_data.cancel_request", cancel_after_approval)
    request_erasure(person=request.requester, posts=ANONYMOUS, by=request.requester)
    assert PersonErasure.objects.filter(account=request.requester).exists()
    assert not Agent.objects.get(operator=request.requester).account.is_active


def test_the_handles_are_never_given_again(life: Life, settings: Any) -> None:
    erase(life.person)
    for handle in (HANDLE, AGENT_HANDLE):
        assert not HandleClaim.objects.filter(handle=handle).exists()
        with pytest.raises(HandleTaken):
            register_person(handle=handle, name="Another", password=PASSWORD)
    register_person(handle=f"{HANDLE}_2", name="Another", password=PASSWORD)
    settings.ROOT_KEY, settings.ROOT_KEY_PREVIOUS = "r" * 60, settings.ROOT_KEY
    what = "keys of erased handles under the previous key"
    assert [erased_handles.prune(now=timezone.now(), dry_run=dry)[what] for dry in (True, False, False)] == [1, 1, 0]
    settings.ROOT_KEY_PREVIOUS = ""
    with pytest.raises(HandleTaken):
        register_person(handle=HANDLE, name="Another", password=PASSWORD)


@pytest.mark.django_db
def test_a_lost_root_key_does_not_stop_erasures_and_nobody_claims_the_handle_of_deleted_authors(settings: Any) -> None:
    with pytest.raises(HandleTaken):
        register_person(handle="deleted", name="Deleted", password=PASSWORD)
    erase(PersonFactory(handle="first_one"))
    settings.ROOT_KEY = "l" * 60
    erase(PersonFactory(handle="second_one"))
    with pytest.raises(HandleTaken):
        register_person(handle="second_one", name="Another", password=PASSWORD)
    assert ErasedHandleKey.objects.count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("bystander")
@pytest.mark.parametrize("step", range(0, len(extension_points.PERSON_ERASERS) + 1, 8))
def test_an_erasure_that_was_interrupted_goes_on(step: int, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process begins where the first one, which was killed, has its lease no more."""
    person = PersonFactory(handle="halfway")
    MessageFactory(author=person)
    request_erasure(person=person, posts=DELETED, by=person, wait=NOW)
    erasers = list(settings.PERSON_ERASERS)
    settings.PERSON_ERASERS = erasers[:step]
    monkeypatch.setattr(erasing, "_end", killed)
    with pytest.raises(SystemExit):
        run_due("erasures")
    monkeypatch.undo()
    settings.PERSON_ERASERS = erasers
    assert run_due("erasures") == 0
    PersonErasure.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    with pytest.raises(ErasureNotFound):
        cancel_erasure(person=person, by=person)
    assert run_due("erasures") == 1
    assert not Account.objects.filter(pk=person.pk).exists()


def killed(*args: object) -> None:
    raise SystemExit


def approve_another(subject: Subject) -> int:
    """An eraser beside which a super admin thinks better of a rejection."""
    for request in AgentRequest.objects.filter(requester=subject.person_id, status="rejected"):
        boss = SuperAdminFactory()
        undo_decision(request_id=request.pk, by=boss)
        approve_request(request_id=request.pk, by=boss)
    return 0


@pytest.mark.django_db(transaction=True)
def test_an_agent_that_is_approved_during_the_erasure_is_erased_by_the_next_try(settings: Any) -> None:
    request = RequestFactory()
    person = request.requester
    reject_request(request_id=request.pk, by=SuperAdminFactory())
    settings.PERSON_ERASERS = [f"{__name__}.approve_another", *extension_points.PERSON_ERASERS]
    request_erasure(person=person, posts=ANONYMOUS, by=person, wait=NOW)
    assert run_due("erasures") == 0
    assert Agent.objects.filter(operator=person).exists()
    assert run_due("erasures") == 1
    assert not Account.objects.filter(pk=person.pk).exists()
    assert not Agent.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("bystander")
def test_several_processes_erase_a_person_once() -> None:
    person = PersonFactory()
    MessageFactory.create_batch(3, author=person)
    request_erasure(person=person, posts=ANONYMOUS, by=person, wait=NOW)
    assert sum(race(3, lambda _number: run_due("erasures"))) == 1


@pytest.mark.django_db(transaction=True)
def test_of_a_cancellation_and_a_begin_at_the_same_time_one_wins() -> None:
    person = PersonFactory()
    request_erasure(person=person, posts=ANONYMOUS, by=person, wait=NOW)

    def act(number: int) -> bool:
        if number:
            return run_due("erasures") == 1
        try:
            cancel_erasure(person=person, by=person)
        except (ErasureNotFound, Account.DoesNotExist):
            return False
        return True

    assert sum(race(2, act)) == 1


@pytest.mark.django_db
def test_the_last_super_admin_cannot_be_erased() -> None:
    first, second = SuperAdminFactory(), SuperAdminFactory()
    request_erasure(person=first, posts=ANONYMOUS, by=first, wait=NOW)
    with pytest.raises(LastSuperAdmin), transaction.atomic():
        request_erasure(person=second, posts=ANONYMOUS, by=second)
    Account.objects.filter(pk=second.pk).update(is_active=False)
    assert run_due("erasures") == 0
    Account.objects.filter(pk=second.pk).update(is_active=True)
    assert run_due("erasures") == 1


@pytest.mark.django_db
def test_the_decisions_of_an_erased_super_admin_stay_without_the_reasons_of_jobs(settings: Any) -> None:
    boss, _other = SuperAdminFactory(), SuperAdminFactory()
    request = RequestFactory().pk
    approve_request(request_id=request, by=boss)
    job = record_job(kind="messaging.message:hide", label="Hide 2 posts", changed={}, by=boss, reason="Bad words.")
    erase(boss)
    job.refresh_from_db()
    assert (job.by, job.label, job.reason) == (None, "Hide 2 posts", "")
    decided = AgentRequest.objects.get(pk=request)
    assert decided.decided_by is not None
    assert decided.decided_by.handle == "deleted-human"
    record = Api.as_person(decided.requester).get(f"/v1/agent-tokens/requests/{request}").json
    assert record["decidedBy"] == NOBODY


@pytest.mark.django_db
@pytest.mark.usefixtures("bystander")
def test_the_command_erases_at_once_or_later_and_cancels() -> None:
    person = PersonFactory(handle="by_command")
    later = run_json("erase_person", "by_command", "--posts", "anonymous", "--json")
    assert (later["erased"], later["posts"]) == (False, "anonymous")
    assert run_json("erase_person", "by_command", "--undo", "--json")["dueAt"] is None
    assert run_json("erase_person", "by_command", "--undo", "--json")["dueAt"] is None
    assert run_json("erase_person", "by_command", "--posts", "deleted", "--now", "--json")["erased"] is True
    assert not Account.objects.filter(pk=person.pk).exists()
    assert "by_command" in refused("erase_person", "by_command", "--posts", "deleted")
    boss = SuperAdminFactory()
    Account.objects.filter(is_superuser=True).exclude(pk=boss.pk).update(is_active=False)
    assert refused("erase_person", boss.handle, "--posts", "deleted") == "last_super_admin"


@pytest.mark.django_db
def test_a_ready_reason_that_mentions_the_person_is_deleted() -> None:
    person, before = PersonFactory(handle="nearby"), ReadyReason.objects.count()
    for text in ("Ask @nearby first.", "Ask @nearby_2 first."):
        ReadyReason.objects.create(of="request", text=text)
    erase(person)
    assert ReadyReason.objects.count() == before + 1


@pytest.mark.django_db
def test_what_only_looks_like_a_mention_stays() -> None:
    boss, person = SuperAdminFactory(), PersonFactory(handle="hidden")
    queries = ["status__exact=hidden", "q=unhidden", "q=hidden_2", "q=posts&o=hidden", "q=hidden", "q=a+hidden+word"]
    for number, query in enumerate(queries):
        SavedList.objects.create(account=boss, of="messaging.message", name=f"The hidden {number}", query=query)
    job = record_job(kind="messaging.message:hide", label="x", changed={}, by=boss, reason="@hidden_2 and hidden words")
    erase(person)
    assert SavedList.objects.count() == len(queries)
    job.refresh_from_db()
    assert job.reason == "@hidden_2 and hidden words"


def has_written(_subject: Subject) -> int:
    """An eraser that finds nothing, and fails in a transaction that others would wait for."""
    assert fetch_one("SELECT pg_current_xact_id_if_assigned()") == (None,)
    return 0


@pytest.mark.django_db(transaction=True)
def test_a_search_for_what_is_to_erase_delays_no_reader_of_the_change_log(settings: Any) -> None:
    settings.PERSON_ERASERS = [f"{__name__}.has_written", *extension_points.PERSON_ERASERS]
    erase(PersonFactory())


@pytest.mark.django_db
def test_reasons_in_inboxes_are_erased_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    person = PersonFactory()
    for _ in range(3):
        hide_message(message_id=MessageFactory().pk, by=SuperAdminFactory(), reason=f"As @{person.handle} said.")
    of_another = Change.objects.filter(data__reason="As @somebody_else said.")
    hide_message(message_id=MessageFactory().pk, by=SuperAdminFactory(), reason="As @somebody_else said.")
    monkeypatch.setattr(personal_data, "BATCH", 2)
    subject = Subject((person.pk,), (person.handle,), {}, delete_posts=True)
    assert [personal_data.erase_mentions(subject) for _ in range(3)] == [2, 1, 0]
    assert of_another.count() == 1


@pytest.mark.django_db
def test_the_reasons_of_an_erased_moderator_leave_the_inboxes_of_others() -> None:
    """Those of another moderator stay, also with the same words."""
    moderators, author = [PersonFactory(), PersonFactory()], PersonFactory()
    for moderator in moderators:
        for community in (CommunityFactory(), None):
            post = MessageFactory(author=author, community=community)
            hide_message(message_id=post.pk, by=moderator, reason="Off topic.")
    erase(moderators[0])
    told = Change.objects.filter(account_id=author.pk, type="moderated").order_by("xid", "id")
    assert [event.data["reason"] for event in told] == [None, None, "Off topic.", "Off topic."]


@pytest.mark.django_db
def test_the_erasure_of_an_inbox_expires_no_cursor(monkeypatch: pytest.MonkeyPatch) -> None:
    person, reader = PersonFactory(), Channel(account_id=PersonFactory().pk)
    of_person = {"account_id": person.pk, "page_id": "p", "message_id": MessageFactory().pk, "actor_id": person.pk}
    append([NewChange(type="reply", about_id=uuid4(), data={"reason": "x"}, **of_person) for _ in range(3)])
    newest = reading.now()
    monkeypatch.setattr(personal_data, "BATCH", 2)
    subject = Subject((person.pk,), (person.handle,), {}, delete_posts=True)
    assert [personal_data.erase(subject) for _ in range(3)] == [2, 1, 0]
    assert reading.read(reader, newest, limit=1) == Batch([], newest)
    assert not find_pending({"reader": (reader, newest)}).keys
    # The rows are empty, and are listed nowhere.
    rows = reading.read(WholeLog(), None, limit=9).rows
    assert len(rows) == 3
    assert {(row[2], *row[4:]) for row in rows} == {("erased", None, None, None, UUID(int=0), None, None, None)}
    for channel in (Channel(account_id=person.pk), Channel()):
        assert reading.read(channel, None, limit=9).rows == []


@pytest.mark.django_db
@pytest.mark.parametrize("posts", [ANONYMOUS, DELETED])
def test_versions_reasons_and_authors_of_the_posts_of_others_stay(posts: PostsChoice) -> None:
    person, other = PersonFactory(), PersonFactory()
    for author in (person, other):
        post = MessageFactory(author=author, community=CommunityFactory())
        assert Api.as_person(author).put(f"/api/messages/{post.pk}", {"content": "Edited"}).status == 200
        hide_message(message_id=post.pk, by=SuperAdminFactory(), reason="Spam.")
    erase(person, posts)
    for model, fields in ((MessageVersion, {}), (Decision, {"reason": "Spam."})):
        assert list(model.objects.filter(**fields).values_list("message__author", flat=True)) == [other.pk]
    assert set(Message.objects.values_list("author", flat=True)) == {UUID(NOBODY["id"]), other.pk}


@pytest.mark.django_db
@pytest.mark.usefixtures("bystander")
def test_an_erased_agent_leaves_no_rows_of_its_own() -> None:
    holder = agent_with_token()
    erase(holder.request.requester, ANONYMOUS)
    assert not Agent.objects.filter(pk=holder.account.agent.pk).exists()
    assert not AgentToken.objects.filter(pk=holder.token.pk).exists()
    assert Api().get(f"/v1/agents/{holder.account.handle}").status == 404


@pytest.mark.django_db
def test_an_erasure_reads_the_sessions_of_others_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only those without a row that names the account: of an older release, or of nobody."""
    decoded: list[str] = []
    decode = Session.get_decoded

    def counted(session: Session) -> dict[str, Any]:
        decoded.append(session.pk)
        return decode(session)

    monkeypatch.setattr(Session, "get_decoded", counted)
    person, queries = PersonFactory(), []
    for _ in range(2):
        for _ in range(2):
            Client().force_login(person)
        AccountSession.objects.filter(account=person).first().delete()  # type: ignore[union-attr]
        decoded.clear()
        with CaptureQueriesContext(connection) as captured:
            assert erase_sessions(Subject((person.pk,), (person.handle,), {}, delete_posts=False)) == 3
        queries.append((len(captured), len(decoded)))
        for _ in range(10):
            Client().force_login(PersonFactory())
    assert queries == [queries[0]] * 2
    assert queries[0][1] == 1
    assert Session.objects.count() == AccountSession.objects.count() == 20


def test_a_process_that_has_lost_its_lease_stops(transactional_db: None) -> None:
    person = PersonFactory()
    request_erasure(person=person, posts=ANONYMOUS, by=person, wait=NOW)
    erasure = leases.take(PersonErasure.objects.unleased())
    assert erasure is not None
    PersonErasure.objects.update(lease_id=None)
    with pytest.raises(leases.LeaseLost):
        erasing.carry_out(erasure)
    assert Account.objects.filter(pk=person.pk).exists()
