"""reportMessage: who may report what, repetitions, and communities that put reported posts back to review."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.utils import timezone

from messaging.models import Account, Community, Message, Report
from messaging.moderation.reporting import CLOSED_DAYS, dismiss_reports, prune
from messaging.moderation.services import approve_message, hide_message, restore_message
from messaging.posts.exceptions import NotInThisState
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
    first, second = (report(message, reporter, key="k") for _ in range(2))
    assert (first.json, second.headers["Idempotent-Replayed"]) == (second.json, "true")
    # Also after the post was put back to review.
    message = MessageFactory(community=community(1))
    assert [report(message, reporter).json for _ in range(2)] == [{"reported": True}] * 2
    assert (status_of(message), report(message).json["error"]) == ("pending", "message_not_found")


def test_a_post_that_is_not_public_is_not_found() -> None:
    person, reply = Api.as_person(PersonFactory()), MessageFactory(parent=MessageFactory())
    hide_message(message_id=reply.parent.pk, by=SuperAdminFactory())
    hidden = [MessageFactory(status=status).pk for status in ("pending", "hidden", "deleted")]
    for each in (*hidden, reply.pk, reply.author.pk, "not-an-id", reply.page_id):
        answer = person.post(f"/api/messages/{each}/report", SPAM)
        assert (answer.status, answer.error) == (404, "message_not_found"), each
    assert not Report.objects.exists()


def test_an_invalid_body_is_refused() -> None:
    post, person = MessageFactory(), PersonFactory()
    bodies: list[Any] = [{}, ["spam"], *({"reason": reason} for reason in (None, "dislike", ["spam"]))]
    bodies += [{"reason": "spam", "note": note} for note in (1, "x" * 501, "a\x00b")]
    assert [body for body in bodies if report(post, person, body).status != 400] == []
    assert not Report.objects.exists()


def test_a_note_is_optional_and_has_at_most_500_characters() -> None:
    for note in ("😀" * 500, "", "  ", None):
        post = MessageFactory()
        assert report(post, body={"reason": "other", "note": note}).status == 200
        assert Report.objects.get(message=post).note == (note or "").strip()


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
        message, other = (MessageFactory(parent=parent, community=parent.community) for _ in range(2))
        report(other)
        report(message)
        assert status_of(message) == "published"
        report(message)
        parent.refresh_from_db()
        assert (status_of(message), status_of(other), parent.reply_count) == ("pending", "published", 1)
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

    def test_without_the_rule_no_number_of_reports_does(self) -> None:
        for message in (MessageFactory(community=None), MessageFactory(community=community(0))):
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
        ann, bob, in_community = PersonFactory(handle="ann_a"), PersonFactory(handle="bob_b"), community(1)
        unedited, message = MessageFactory.create_batch(2, community=in_community, content="Hi @ann_a")
        for each in (unedited, message):
            report(each)
        edit = {"content": "Hi @ann_a and @bob_b"}
        assert Api.as_person(message.author).put(f"/api/messages/{message.pk}", edit).json["status"] == "pending"
        for each in (unedited, message):
            approve_message(message_id=each.pk, by=SuperAdminFactory())
        assert (types(Api.as_person(bob)), types(Api.as_person(ann))) == (["mention"], [])

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
    def test_a_decision_closes_the_open_reports_of_its_post(self) -> None:
        other = MessageFactory()
        report(other)
        for decide in (hide_message, dismiss_reports):
            message = MessageFactory()
            report(message)
            decide(message_id=message.pk, by=SuperAdminFactory())
            assert Report.objects.get(closed_at=None).message == other

    def test_hiding_all_posts_of_an_author_closes_their_reports(self) -> None:
        message, admin, other = MessageFactory(community=community(1)), SuperAdminFactory(), MessageFactory()
        report(message)
        report(other)
        hide_posts_of(author=message.author, by=admin)
        assert Report.objects.get(closed_at=None).message == other
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
    monkeypatch.setattr("kernel.api.throttling.hit", lambda *_arguments: None)


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
