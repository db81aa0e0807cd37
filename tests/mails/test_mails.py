"""What is mailed, to whom, and how a mail looks."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db.models.functions import Now
from django.urls import include, path

from agents.models import AgentToken
from agents.services import approve_request, reject_request, request_widening
from agents.services.tokens import announce_expiring_tokens
from kernel.changes.models import Change
from kernel.changes.rows import ChangeRow
from mails import places
from mails.collecting import recipients_of
from mails.kinds import Frequency, Kind, next_mail_at
from mails.models import Mailing, Notice
from mails.preferences import set_preferences
from mails.sending import ITEMS_MAX
from messaging.inbox.events import ServiceEvent, about_stored_post
from messaging.models import Message, Moderator
from messaging.models.community import PreModeration
from messaging.moderation.services import hide_message
from tests.agents.factories import RequestFactory, agent_with_token
from tests.api import Api
from tests.factories import CommunityFactory, MessageFactory, PersonFactory, SuperAdminFactory
from tests.mails.making import address_of, answer, begin, collect_all, make_due, reachable, report, send_all, write
from tests.mails.server import MailServer, part_of

pytestmark = pytest.mark.django_db
AT_ONCE, DAILY, OFF = Frequency.AT_ONCE, Frequency.DAILY, Frequency.OFF
HOUR = timedelta(hours=1)
BASE = "http://127.0.0.1:8000"


@pytest.fixture(autouse=True)
def _begun(mail_server: MailServer) -> None:
    begin()


def test_a_decision_is_mailed_to_the_requester(mail_server: MailServer) -> None:
    asked = RequestFactory(requester=reachable(), agent_handle="weather_bot")
    reject_request(request_id=asked.pk, by=SuperAdminFactory(), reason="Say who\npays for it.")
    approved = RequestFactory(requester=reachable(), agent_handle="tide_bot")
    named_as_the_form = RequestFactory(requester=reachable(), agent_handle="request")
    for request in (approved, named_as_the_form):
        approve_request(request_id=request.pk, by=SuperAdminFactory())
    send_all()
    by_address = dict(zip(mail_server.recipients, mail_server.mails, strict=True))
    no, yes = by_address[address_of(asked.requester)], by_address[address_of(approved.requester)]
    assert no["Subject"] == "Your request for the agent @weather_bot was rejected"
    assert "Reason: Say who pays for it." in part_of(no, "plain")
    assert f"{BASE}/account/agents/tide_bot/" in part_of(yes, "plain")
    assert f'href="{BASE}/account/agents/tide_bot/"' in part_of(yes, "html")
    of_the_form = by_address[address_of(named_as_the_form.requester)]
    assert f"{BASE}/account/agents/@request/" in part_of(of_the_form, "plain")
    assert not Notice.objects.exists()


def test_mails_of_a_request_for_more_rights_name_what_it_adds(mail_server: MailServer) -> None:
    admin = reachable(SuperAdminFactory())
    held, more = CommunityFactory(name="Harbour"), CommunityFactory(name="Gazette")
    holder = agent_with_token(requester=reachable(), agent_handle="tide_bot", scopes=["reply"], community_ids=[held.pk])
    asked = request_widening(
        requester=holder.request.requester,
        agent_id=holder.agent.pk,
        purpose="It shall quote its sources too.",
        scopes=["quote"],
        community_ids=[more.pk],
    )
    send_all()
    (mail,) = [mail for mail in mail_server.mails if mail["To"] == address_of(admin)]
    assert "asks for more rights of the agent @tide_bot" in part_of(mail, "plain")
    assert "Asked for: Quote, Gazette" in part_of(mail, "plain")
    make_due()
    approve_request(request_id=asked.pk, by=SuperAdminFactory(), scopes=[])
    send_all()
    mail = mail_server.mails[-1]
    assert mail["Subject"] == "Your agent @tide_bot may do more now, but less than you asked"
    assert "Granted: Reply (Gazette, Harbour)" in part_of(mail, "plain")
    for scope, decide in (("quote", approve_request), ("react", reject_request)):
        asked = request_widening(
            requester=holder.request.requester,
            agent_id=holder.agent.pk,
            purpose="It shall do this as well.",
            scopes=[scope],
        )
        decide(request_id=asked.pk, by=SuperAdminFactory())
    make_due()
    send_all()
    text = part_of(mail_server.mails[-1], "plain")
    assert ("Added: Quote" in text, "Asked for: React" in text) == (True, True), text


def test_the_mail_of_an_approval_says_that_less_was_granted(mail_server: MailServer) -> None:
    asked = RequestFactory(requester=reachable(), agent_handle="tide_bot", scopes=["post", "reply"])
    approve_request(request_id=asked.pk, by=SuperAdminFactory(), scopes=["reply"])
    send_all()
    (mail,) = mail_server.mails
    assert mail["Subject"] == "Your agent @tide_bot is approved, for less than you asked"
    for part in ("plain", "html"):
        assert "Asked for: Write posts, Reply (all communities)" in part_of(mail, part)
        assert "Granted: Reply (all communities)" in part_of(mail, part)


@pytest.mark.parametrize("name", ["Mira", "Müller 🙂", "M" * 60])
def test_names_and_texts_of_others_are_only_text_of_a_mail(mail_server: MailServer, name: str) -> None:
    post = MessageFactory(author=reachable(answer=AT_ONCE), page__url="https://paper.example/story")
    author = PersonFactory(name=name)
    reply = answer(post, '<b onclick="x">hi</b> **strong** [here](https://evil.example/x)\n\nline', by=author)
    # No service accepts such a name; the row of an import might have one.
    type(author).objects.filter(pk=author.pk).update(name=f"{name}\r\nBcc: victim@mail.example"[:60])
    send_all()
    (mail,) = mail_server.mails
    assert mail["Bcc"] is None
    assert mail["Subject"].strip().startswith(name[:50])
    assert mail_server.recipients == [address_of(post.author)]
    html, text = part_of(mail, "html"), part_of(mail, "plain")
    assert "&lt;b onclick" in html
    assert 'rel="ugc nofollow noopener"' in html
    assert "(evil.example)" in html
    assert "> <b onclick" in text
    assert f"{BASE}/p/{reply}" in text
    # It has the headers of automatic mail.
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail["Precedence"] == "bulk"
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert mail["List-Unsubscribe"].strip().startswith(f"<{BASE}/unsubscribe/answer/")
    assert mail["Message-ID"].endswith("@127.0.0.1>")
    assert {part.get_content_type() for part in mail.walk()} == {"multipart/alternative", "text/plain", "text/html"}
    assert "<img" not in html


def test_mails_about_one_discussion_are_a_thread(mail_server: MailServer) -> None:
    """Also of several kinds and people; a mail about several discussions is in none, nor is one about a request."""
    author, moderator = reachable(answer=AT_ONCE, mention=AT_ONCE), reachable()
    community = CommunityFactory(pre_moderation=PreModeration.EVERYONE)
    Moderator.objects.create(community=community, account=moderator)
    here, there = MessageFactory(author=author), MessageFactory(author=author)
    threads: dict[str, set[Any]] = {}

    def send(name: str) -> None:
        before = len(mail_server.mails)
        make_due()
        send_all()
        make_due()
        send_all()
        sent = mail_server.mails[before:]
        assert sent, name
        assert all(mail["In-Reply-To"] == mail["References"] for mail in sent)
        threads[name] = {mail["References"] for mail in sent}

    answer(here)
    send("answer")
    answer(here)
    write({"pageId": here.page_id, "content": f"Ask @{author.handle}."})
    write({"pageId": here.page_id, "communityId": str(community.pk), "content": "I wait."})
    send("answer, mention and decision")
    answer(there)
    send("elsewhere")
    answer(here)
    answer(there)
    send("both")
    reject_request(request_id=RequestFactory(requester=author).pk, by=SuperAdminFactory(), reason="No.")
    send("request")
    thread = f"<{here.page_id}.discussion@127.0.0.1>"
    assert threads == {
        "answer": {thread},
        "answer, mention and decision": {thread},
        "elsewhere": {f"<{there.page_id}.discussion@127.0.0.1>"},
        "both": {None},
        "request": {None},
    }
    assert len({mail["Message-ID"] for mail in mail_server.mails}) == len(mail_server.mails)
    assert {mail["List-Id"] for mail in mail_server.mails} == {
        f"<{kind}.127.0.0.1>" for kind in ("answer", "mention", "moderation", "decision")
    }


def test_answers_and_mentions_are_off_until_a_person_switches_them_on(mail_server: MailServer) -> None:
    silent, keen = reachable(), reachable(answer=AT_ONCE, mention=AT_ONCE)
    answer(MessageFactory(author=silent), f"@{silent.handle}")
    answer(MessageFactory(author=keen), "yes")
    write({"content": f"Ask @{keen.handle}."})
    send_all()
    assert sorted(mail["Subject"].split(" on ")[0].split(" ", 2)[2] for mail in mail_server.mails) == [
        "answered your post",
        "mentioned you",
    ]
    assert set(mail_server.recipients) == {address_of(keen)}


def test_what_follows_a_mail_within_its_pause_is_in_the_next_one(mail_server: MailServer) -> None:
    post = MessageFactory(author=reachable(answer=AT_ONCE))
    answer(post)
    send_all()
    for number in range(ITEMS_MAX + 2):
        answer(post, f"Number {number}.")
    assert send_all() == []
    make_due()
    send_all()
    _first, second = mail_server.mails
    assert second["Subject"] == f"{ITEMS_MAX + 2} answers to your posts"
    assert "and 2 more" in part_of(second, "plain")
    assert Mailing.objects.get(kind=Kind.ANSWER, account=post.author).next_at is None


def test_a_daily_mail_is_sent_in_the_morning() -> None:
    early = datetime(2026, 3, 1, 6, 59, tzinfo=UTC)
    morning = datetime(2026, 3, 1, 7, tzinfo=UTC)
    assert next_mail_at(Kind.REQUEST, DAILY, sent_at=early, now=early) == morning
    assert next_mail_at(Kind.REQUEST, DAILY, sent_at=None, now=morning + timedelta(hours=1)) == morning + timedelta(
        days=1
    )


def test_super_admins_get_the_requests_that_are_pending_still(mail_server: MailServer) -> None:
    admin, daily, off = (reachable(SuperAdminFactory()) for _ in range(3))
    set_preferences(account_id=daily.pk, frequencies={Kind.REQUEST: DAILY})
    set_preferences(account_id=off.pk, frequencies={Kind.REQUEST: OFF})
    pending = RequestFactory(purpose="Counts **boats** in the harbour.", requester=reachable())
    decided = RequestFactory(requester=PersonFactory())
    reject_request(request_id=decided.pk, by=admin)
    send_all()
    (mail,) = mail_server.mails
    assert (mail["Subject"], mail["To"]) == ("1 new agent request", address_of(admin))
    assert f"/admin/agents/agentrequest/{pending.pk}/change/" in part_of(mail, "plain")
    make_due()
    send_all()
    assert mail_server.recipients[1:] == [address_of(daily)]


def test_moderators_get_reported_and_pending_posts_at_most_once_an_hour(mail_server: MailServer) -> None:
    community = CommunityFactory(pre_moderation=PreModeration.EVERYONE)
    moderator = reachable()
    Moderator.objects.create(community=community, account=moderator)
    admin = reachable(SuperAdminFactory())
    without_community = MessageFactory()
    report(str(without_community.pk))
    write({"content": "I wait.", "communityId": str(community.pk)})
    reported = MessageFactory(community=community)
    report(str(reported.pk))
    gone = MessageFactory(community=community)
    report(str(gone.pk))
    hide_message(message_id=gone.pk, by=SuperAdminFactory())
    send_all()
    report(str(MessageFactory(community=community).pk))
    assert send_all() == []
    by_address = dict(zip(mail_server.recipients, mail_server.mails, strict=True))
    # Super admins get those without a community.
    assert by_address.keys() == {address_of(moderator), address_of(admin)}
    mail = by_address[address_of(moderator)]
    assert mail["Subject"] == "2 posts wait for your decision"
    text = part_of(mail, "plain")
    assert "waits for approval" in text
    assert "has 1 report" in text
    assert f"/account/communities/{community.slug}/moderation/" in text


def test_the_inbox_events_of_moderators_are_no_mails_of_their_own(mail_server: MailServer) -> None:
    """A post that waits is one notice for each moderator, also if others are told in an inbox."""
    community = CommunityFactory(pre_moderation=PreModeration.EVERYONE)
    moderators = [reachable() for _ in range(3)]
    for moderator in moderators:
        Moderator.objects.create(community=community, account=moderator)
    begin()
    report(str(MessageFactory(community=community).pk))
    write({"pageId": MessageFactory().page_id, "communityId": str(community.pk), "content": "Held"})
    collect_all()
    assert Change.objects.filter(account_id__in=[moderator.pk for moderator in moderators]).count() == 6
    assert [Notice.objects.filter(mailing__account=moderator).count() for moderator in moderators] == [2, 2, 2]


@pytest.mark.parametrize("frequency", [AT_ONCE, DAILY])
def test_a_former_moderator_gets_no_post_that_waits(mail_server: MailServer, frequency: Frequency) -> None:
    """The rights count when the mail is sent, in each of the communities."""
    moderator = reachable(moderation=frequency)
    former, other = (CommunityFactory(pre_moderation=PreModeration.EVERYONE) for _ in range(2))
    for community in (former, other):
        Moderator.objects.create(community=community, account=moderator)
        write({"content": f"For {community.slug}.", "communityId": str(community.pk)})
    collect_all()
    Moderator.objects.get(community=former).delete()
    make_due()
    send_all()
    (mail,) = mail_server.mails
    assert f"For {other.slug}." in part_of(mail, "plain")
    assert f"For {former.slug}." not in part_of(mail, "plain")


@pytest.mark.parametrize("frequency", [AT_ONCE, DAILY])
def test_a_former_super_admin_gets_neither_requests_nor_posts(mail_server: MailServer, frequency: Frequency) -> None:
    admin = reachable(SuperAdminFactory(), request=frequency, moderation=frequency)
    RequestFactory(requester=PersonFactory())
    report(str(MessageFactory().pk))
    collect_all()
    assert Notice.objects.count() == 2
    type(admin).objects.filter(pk=admin.pk).update(is_superuser=False)
    make_due()
    assert send_all() == [None, None]
    assert (mail_server.mails, Notice.objects.count()) == ([], 0)


def pending(post: Message) -> ChangeRow:
    """The row of the change log that says that a post waits."""
    return ChangeRow(xid=0, id=0, at=post.created_at, **asdict(about_stored_post(ServiceEvent.POST_PENDING, post)))


@pytest.mark.parametrize("count", [1, 5])
def test_the_moderators_of_any_number_of_communities_are_one_query(count: int, django_assert_num_queries: Any) -> None:
    admin, without_moderators = SuperAdminFactory(), CommunityFactory()
    moderators = [Moderator.objects.create(community=CommunityFactory(), account=PersonFactory()) for _ in range(count)]
    communities = [each.community for each in moderators] + [without_moderators, None]
    rows = [pending(MessageFactory(community=community)) for community in communities]
    # The other one finds the super admins.
    with django_assert_num_queries(2):
        found = [(row.community_id, recipient.account_id) for row, recipient in recipients_of(rows)]
    by_moderators = [(each.community_id, each.account_id) for each in moderators]
    assert found == [*by_moderators, (without_moderators.pk, admin.pk), (None, admin.pk)]


@pytest.mark.parametrize("cannot", [{"is_active": False}, {"erasure_due_at": Now()}])
def test_super_admins_decide_where_no_moderator_can(cannot: dict[str, Any]) -> None:
    admin, post = SuperAdminFactory(), MessageFactory(community=CommunityFactory())
    moderator = Moderator.objects.create(community=post.community, account=PersonFactory()).account
    type(moderator).objects.filter(pk=moderator.pk).update(**cannot)
    assert [recipient.account_id for _row, recipient in recipients_of([pending(post)])] == [admin.pk]
    # Nor are super admins asked who cannot.
    leaving = SuperAdminFactory()
    type(leaving).objects.filter(pk=leaving.pk).update(**cannot)
    assert [recipient.account_id for _row, recipient in recipients_of([pending(post)])] == [admin.pk]
    able = Moderator.objects.create(community=post.community, account=PersonFactory())
    assert [recipient.account_id for _row, recipient in recipients_of([pending(post)])] == [able.account_id]


def test_links_are_the_addresses_of_the_pages(settings: Any) -> None:
    settings.ROOT_URLCONF = (path("elsewhere/", include("config.urls")),)
    pages = f"{BASE}/elsewhere/account"
    post = MessageFactory(community=CommunityFactory(slug="harbour"))
    assert places.moderation(post) == f"{pages}/communities/harbour/moderation/"
    assert (places.agents(), places.preferences()) == (f"{pages}/agents/", f"{pages}/me/mails/")


def test_the_operator_is_told_of_a_token_that_expires(mail_server: MailServer) -> None:
    holder = agent_with_token(requester=reachable(), agent_handle="harbour_bot")
    send_all()
    AgentToken.objects.update(expires_at=Now() + timedelta(days=6), label="CI\nserver")
    announce_expiring_tokens()
    send_all()
    mail = mail_server.mails[-1]
    assert mail["Subject"].startswith("A token of @harbour_bot expires on ")
    assert "Token: CI server" in part_of(mail, "plain")
    assert holder.value not in str(mail)


def test_only_verified_addresses_of_active_people_get_mails(mail_server: MailServer) -> None:
    unverified, suspended = reachable(answer=AT_ONCE), reachable(answer=AT_ONCE)
    unverified.emailaddress_set.update(verified=False)
    posts = [MessageFactory(author=author) for author in (unverified, suspended, PersonFactory())]
    for post in posts:
        answer(post)
    collect_all()
    type(suspended).objects.filter(pk=suspended.pk).update(is_active=False)
    assert send_all() == [None]
    assert (mail_server.recipients, Notice.objects.count()) == ([], 0)


def test_a_post_that_is_gone_is_not_mailed(mail_server: MailServer) -> None:
    post = MessageFactory(author=reachable(answer=AT_ONCE))
    reply = answer(post)
    collect_all()
    hide_message(message_id=UUID(reply), by=SuperAdminFactory())
    assert send_all() == [None]
    assert mail_server.recipients == []


def test_what_is_older_than_three_days_is_not_mailed(mail_server: MailServer) -> None:
    post = MessageFactory(author=reachable(answer=AT_ONCE))
    answer(post)
    Change.objects.update(at=Now() - timedelta(days=3, minutes=1))
    collect_all()
    assert not Notice.objects.exists()
    answer(post)
    collect_all()
    Notice.objects.update(at=Now() - timedelta(days=3, minutes=1))
    assert send_all() == [None]


def test_what_happened_before_the_first_start_or_a_restore_is_not_mailed(mail_server: MailServer) -> None:
    from mails.models import Collector

    post = MessageFactory(author=reachable(answer=AT_ONCE))
    answer(post)
    Collector.objects.all().delete()
    assert send_all() == []
    answer(post)
    Collector.objects.update(generation=-1)
    assert send_all() == []
    answer(post)
    assert len(send_all()) == 1


def test_the_mail_is_in_the_language_of_the_person(mail_server: MailServer) -> None:
    person = reachable(answer=AT_ONCE)
    type(person).objects.filter(pk=person.pk).update(language="ar")
    answer(MessageFactory(author=person))
    send_all()
    assert '<html lang="ar" dir="rtl">' in part_of(mail_server.mails[0], "html")


def test_events_for_moderators_are_in_no_inbox_and_no_public_change(mail_server: MailServer) -> None:
    community = CommunityFactory(pre_moderation=PreModeration.EVERYONE)
    write({"content": "I wait.", "communityId": str(community.pk)})
    RequestFactory()
    assert Change.objects.filter(type__in=["post_pending", "agent_requested"]).count() == 2
    public: Any = Api().get("/v1/changes", communityId=str(community.pk)).json
    assert public["changes"] == []
    assert Message.objects.get().status == "pending"
