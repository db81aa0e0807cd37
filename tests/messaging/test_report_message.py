"""reportMessage: who may report what, repetitions, and communities that put reported posts back to review."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.utils import timezone

from messaging.exceptions import NotInThisState
from messaging.models import Account, Community, Message, Report
from messaging.services.moderation import approve_message, hide_message, restore_message
from messaging.services.reporting import CLOSED_DAYS, dismiss_reports, prune
from tests.agents.factories import agent_with_token
from tests.agents.racing import race
from tests.api import Answer, Api
from tests.changes.inbox import events, types
from tests.factories import CommunityFactory, MessageFactory, PersonFactory, SuperAdminFactory
from tests.hiding import hide_posts_of, restore_posts_of
from tests.openapi import document

pytestmark = pytest.mark.django_db
SPAM = {"reason": "spam"}


def report(message: Message, by: Account | None = None, body: Any = SPAM, **options: Any) -> Answer:
    return Api.as_person(by or PersonFactory()).post(f"/api/messages/{message.pk}/report", body, **options)


def community(limit: int = 2, **rules: Any) -> Community:
    made: Community = CommunityFactory(reports_to_hide=limit, **rules)
    return made


def logged(message: Message) -> list[str]:
    changes = Api().get("/v1/changes", pageId=message.page_id).json["changes"]
    return [change["type"] for change in changes if change["messageId"] == str(message.pk)]


def status_of(message: Message) -> str:
    return str(Message.objects.values_list("status", flat=True).get(pk=message.pk))


def decisions(message: Message) -> list[str]:
    return [entry.change_message for entry in LogEntry.objects.filter(object_id=str(message.pk)).order_by("pk")]


def test_a_report_is_stored_and_the_post_stays() -> None:
    message, reporter = MessageFactory(), PersonFactory()
    answer = report(message, reporter, {"reason": "off_topic", "note": " About cats. "})
    assert (answer.status, answer.json) == (200, {"reported": True})
    stored = Report.objects.get()
    assert (stored.message, stored.reporter, stored.reason) == (message, reporter, "off_topic")
    assert (stored.note, stored.closed_at) == ("About cats.", None)
    assert Api().get(f"/api/messages/{message.pk}").status == 200
    assert logged(message) == []


def test_a_repeated_report_answers_the_same_and_changes_nothing() -> None:
    message, reporter = MessageFactory(), PersonFactory()
    assert [report(message, reporter, {"reason": reason}).status for reason in ("spam", "abuse")] == [200, 200]
    assert Report.objects.get().reason == "spam"


def test_a_repeated_report_answers_the_same_after_the_post_was_put_back_to_review() -> None:
    message, reporter = MessageFactory(community=community(1)), PersonFactory()
    assert [report(message, reporter).json for _ in range(2)] == [{"reported": True}] * 2
    assert (status_of(message), report(message).json["error"]) == ("pending", "message_not_found")


def test_a_retry_with_the_same_key_is_a_replay() -> None:
    message, reporter = MessageFactory(), PersonFactory()
    first, second = (report(message, reporter, key="k") for _ in range(2))
    assert (first.json, second.headers["Idempotent-Replayed"]) == (second.json, "true")


@pytest.mark.parametrize("status", ["pending", "hidden", "deleted"])
def test_a_post_that_is_not_public_is_not_found(status: str) -> None:
    answer = report(MessageFactory(status=status))
    assert (answer.status, answer.json["error"]) == (404, "message_not_found")


def test_a_post_in_a_hidden_thread_and_an_unknown_one_are_not_found() -> None:
    reply = MessageFactory(parent=MessageFactory())
    hide_message(message_id=reply.parent.pk, by=SuperAdminFactory())
    person = Api.as_person(PersonFactory())
    ids = (str(reply.pk), str(reply.author.pk), "not-an-id", reply.page_id)
    assert {person.post(f"/api/messages/{each}/report", SPAM).status for each in ids} == {404}
    assert not Report.objects.exists()


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"reason": None},
        {"reason": "dislike"},
        {"reason": ["spam"]},
        {"reason": "spam", "note": 1},
        {"reason": "spam", "note": "x" * 501},
        {"reason": "spam", "note": "a\x00b"},
        ["spam"],
    ],
)
def test_an_invalid_body_is_refused(body: Any) -> None:
    assert report(MessageFactory(), body=body).status == 400
    assert not Report.objects.exists()


@pytest.mark.parametrize("note", ["😀" * 500, "", "  ", None])
def test_a_note_is_optional_and_has_at_most_500_characters(note: str | None) -> None:
    assert report(MessageFactory(), body={"reason": "other", "note": note}).status == 200
    assert Report.objects.get().note == (note or "").strip()


def test_agents_may_not_report() -> None:
    answer = agent_with_token().api.post(f"/api/messages/{MessageFactory().pk}/report", SPAM)
    assert (answer.status, answer.json["error"]) == (403, "agent_route_not_allowed")


def test_reports_have_an_hourly_throttle_of_their_own(settings: Any) -> None:
    settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"report": (1, 3600)}
    reporter = PersonFactory()
    assert report(MessageFactory(), reporter).status == 200
    answer = report(MessageFactory(), reporter)
    assert (answer.status, answer.json["error"], answer.json["counter"]) == (429, "rate_limited", "report")
    assert 0 < int(answer.headers["Retry-After"]) <= 3600


class TestPutBackToReview:
    def test_so_many_reports_as_the_rule_says_make_the_post_pending(self) -> None:
        parent = MessageFactory(community=community())
        message = MessageFactory(parent=parent, community=parent.community)
        report(message)
        assert status_of(message) == "published"
        report(message)
        parent.refresh_from_db()
        assert (status_of(message), parent.reply_count) == ("pending", 0)
        assert Api().get(f"/api/messages/{message.pk}").status == 404
        assert logged(message) == ["message.hidden"]
        assert decisions(message) == ["Put back to review after 2 reports (published → pending)."]

    def test_the_author_has_an_event_that_names_nobody(self) -> None:
        message = MessageFactory(community=community(1))
        report(message)
        (event,) = events(Api.as_person(message.author))
        assert (event["type"], event["messageId"], event["actor"]) == ("moderated", str(message.pk), None)
        assert event["data"]["status"] == "pending"
        assert "reported" in event["data"]["reason"]

    @pytest.mark.parametrize("place", ["no community", "rule is off"])
    def test_without_the_rule_no_number_of_reports_does(self, place: str) -> None:
        message = MessageFactory(community=None if place == "no community" else community(0))
        for _ in range(5):
            report(message)
        assert status_of(message) == "published"

    def test_the_replies_disappear_with_it_and_return(self) -> None:
        message = MessageFactory(community=community(1))
        reply = MessageFactory(parent=message)
        report(message)
        assert Api().get(f"/api/messages/{reply.pk}").status == 404
        approve_message(message_id=message.pk, by=SuperAdminFactory())
        assert Api().get(f"/api/messages/{reply.pk}").status == 200

    def test_an_approval_closes_the_reports_and_the_next_one_hides_nothing(self) -> None:
        message, reporter = MessageFactory(community=community()), PersonFactory()
        report(message, reporter)
        report(message)
        approve_message(message_id=message.pk, by=SuperAdminFactory())
        assert (status_of(message), logged(message)) == ("published", ["message.hidden", "message.restored"])
        report(message, reporter)
        report(message)
        assert status_of(message) == "published"
        report(message)
        assert status_of(message) == "pending"

    def test_an_approval_announces_no_mention_again_but_those_of_an_edit(self) -> None:
        PersonFactory(handle="ann_a")
        bob, message = PersonFactory(handle="bob_b"), MessageFactory(community=community(1), content="Hi @ann_a")
        report(message)
        edit = {"content": "Hi @ann_a and @bob_b"}
        assert Api.as_person(message.author).put(f"/api/messages/{message.pk}", edit).json["status"] == "pending"
        approve_message(message_id=message.pk, by=SuperAdminFactory())
        assert types(Api.as_person(bob)) == ["mention"]
        assert types(Api.as_person(Account.objects.get(handle="ann_a"))) == []

    def test_without_an_edit_an_approval_announces_no_mention(self) -> None:
        ann, message = PersonFactory(handle="ann_a"), MessageFactory(community=community(1), content="Hi @ann_a")
        report(message)
        approve_message(message_id=message.pk, by=SuperAdminFactory())
        assert types(Api.as_person(ann)) == []

    def test_hiding_and_restoring_it_is_told_as_of_a_public_post(self) -> None:
        message, admin = MessageFactory(community=community(1)), SuperAdminFactory()
        report(message)
        hide_message(message_id=message.pk, by=admin)
        restore_message(message_id=message.pk, by=admin)
        assert logged(message) == ["message.hidden", "message.restored"]
        message.refresh_from_db()
        assert (message.status, message.held_after_reports) == ("published", False)

    def test_its_author_may_delete_it(self) -> None:
        message = MessageFactory(community=community(1))
        MessageFactory(parent=message)
        report(message)
        assert Api.as_person(message.author).delete(f"/api/messages/{message.pk}").status == 200
        assert Api().get(f"/api/messages/{message.pk}").json["status"] == "deleted"
        assert logged(message) == ["message.hidden", "message.deleted"]


class TestDecisions:
    @pytest.mark.parametrize("decide", [hide_message, dismiss_reports])
    def test_a_decision_closes_the_open_reports(self, decide: Any) -> None:
        message = MessageFactory()
        report(message)
        decide(message_id=message.pk, by=SuperAdminFactory())
        assert Report.objects.get().closed_at is not None

    def test_hiding_all_posts_of_an_author_closes_their_reports(self) -> None:
        message, admin = MessageFactory(community=community(1)), SuperAdminFactory()
        report(message)
        hide_posts_of(author=message.author, by=admin)
        assert Report.objects.get().closed_at is not None
        restore_posts_of(author=message.author, by=admin)
        assert status_of(message) == "pending"

    def test_dismissing_leaves_the_post_and_is_refused_without_open_reports(self) -> None:
        message, admin = MessageFactory(), SuperAdminFactory()
        report(message)
        dismiss_reports(message_id=message.pk, by=admin, reason="Fine")
        with pytest.raises(NotInThisState):
            dismiss_reports(message_id=message.pk, by=admin, reason="Fine")
        assert (status_of(message), decisions(message)) == ("published", ["Reports dismissed (open → closed): Fine"])


@pytest.fixture
def _racing(monkeypatch: pytest.MonkeyPatch) -> None:
    # Generated once, which threads cannot do at the same time.
    document()
    monkeypatch.setattr("config.api.throttling.hit", lambda *_arguments: None)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_racing")
class TestAtOnce:
    def test_one_person_reports_once(self) -> None:
        message, reporter = MessageFactory(community=community()), PersonFactory()
        assert race(6, lambda _number: report(message, reporter).status) == [200] * 6
        assert (Report.objects.count(), status_of(message)) == (1, "published")

    def test_many_people_put_the_post_back_to_review_once(self) -> None:
        message, people = MessageFactory(community=community(3)), [PersonFactory() for _ in range(6)]
        statuses = race(6, lambda number: report(message, people[number]).status)
        assert sorted(statuses) == [200] * 3 + [404] * 3
        assert (status_of(message), logged(message)) == ("pending", ["message.hidden"])
        assert types(Api.as_person(message.author)) == ["moderated"]


def test_closed_reports_are_pruned_and_open_ones_are_not() -> None:
    closed, reopened = MessageFactory(), MessageFactory()
    for message in (closed, reopened):
        report(message)
        dismiss_reports(message_id=message.pk, by=SuperAdminFactory())
    report(reopened)
    later = timezone.now() + timedelta(days=CLOSED_DAYS, minutes=1)
    assert prune(now=later - timedelta(days=1), dry_run=False) == {"closed reports": 0}
    assert prune(now=later, dry_run=True) == {"closed reports": 2}
    assert prune(now=later, dry_run=False) == {"closed reports": 2}
    assert Report.objects.get().message == reopened
