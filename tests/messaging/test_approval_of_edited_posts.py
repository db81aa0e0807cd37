"""A decision that names the post as a moderator saw it does not apply to a text that came later."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry

from kernel.changes.models import Change
from messaging.models import Message, MessageStatus, Report
from messaging.moderation import moderators
from messaging.moderation.reporting import dismiss_reports
from messaging.moderation.services import approve_message
from messaging.posts.exceptions import MessageEdited, NotInThisState
from tests.api import Api
from tests.factories import CommunityFactory, MessageFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
PENDING, PUBLISHED = MessageStatus.PENDING, MessageStatus.PUBLISHED
T = datetime(2026, 5, 1, 12, 0, 0, 123456, tzinfo=UTC)
LATER = T + timedelta(milliseconds=1)


def a_post(*, edited_at: datetime | None, updated_at: datetime | None = None, **fields: Any) -> Message:
    at = updated_at or edited_at or T
    post: Message = MessageFactory(created_at=T, edited_at=edited_at, updated_at=at, **fields)
    return post


def report(post: Message) -> Message:
    Report.objects.create(message=post, reporter=PersonFactory(), reason="spam")
    return post


def unchanged(post: Message) -> bool:
    before, after = (
        {name: value for name, value in vars(row).items() if not name.startswith("_")}
        for row in (post, Message.objects.get(pk=post.pk))
    )
    return before == after and not LogEntry.objects.exists() and not Change.objects.exists()


def test_a_post_that_was_edited_after_it_was_seen_is_not_approved() -> None:
    post = a_post(status=PENDING, edited_at=LATER)
    with pytest.raises(MessageEdited):
        approve_message(message_id=post.pk, by=SuperAdminFactory(), seen_at=T)
    assert unchanged(post)


SEEN: list[dict[str, Any]] = [
    {"edited_at": T},
    # Another change since.
    {"edited_at": T - timedelta(hours=1), "updated_at": LATER},
    {"edited_at": None, "updated_at": LATER},
    # Imported with an edit after its last change.
    {"edited_at": LATER, "updated_at": T},
]


def test_a_post_with_the_text_that_was_seen_is_approved() -> None:
    """A client may store times as dates of JavaScript, which are cut to milliseconds."""
    boss, cut = SuperAdminFactory(), T.replace(microsecond=123000)
    for seen_at, fields in [*((T, fields) for fields in SEEN), (cut, SEEN[0])]:
        post = a_post(status=PENDING, **fields)
        assert approve_message(message_id=post.pk, by=boss, seen_at=seen_at).status == PUBLISHED, fields


@pytest.mark.parametrize("decide", [approve_message, moderators.approve])
def test_a_decision_without_the_time_applies_to_any_text(decide: Callable[..., Message]) -> None:
    post = a_post(status=PENDING, edited_at=LATER)
    assert decide(message_id=post.pk, by=SuperAdminFactory()).status == PUBLISHED


def test_reports_of_a_post_that_was_edited_since_stay_open() -> None:
    post = report(a_post(edited_at=LATER))
    with pytest.raises(MessageEdited):
        dismiss_reports(message_id=post.pk, by=SuperAdminFactory(), seen_at=T)
    assert unchanged(post)
    assert Report.objects.get().closed_at is None
    dismiss_reports(message_id=post.pk, by=SuperAdminFactory(), seen_at=LATER)
    assert Report.objects.get().closed_at is not None


@pytest.mark.parametrize("status", [PENDING, PUBLISHED])
def test_keeping_a_reported_post_neither_publishes_nor_keeps_a_later_text(status: MessageStatus) -> None:
    """An edit makes a published post pending where posts wait for approval."""
    post = report(a_post(status=status, held_after_edit=status == PENDING, edited_at=LATER))
    with pytest.raises(MessageEdited):
        moderators.approve(message_id=post.pk, by=SuperAdminFactory(), seen_at=T)
    assert unchanged(post)
    assert Report.objects.get().closed_at is None


def test_a_post_that_was_deleted_since_has_another_status() -> None:
    post = a_post(status=MessageStatus.DELETED, edited_at=None, updated_at=LATER)
    with pytest.raises(NotInThisState):
        moderators.approve(message_id=post.pk, by=SuperAdminFactory(), seen_at=T)


def waiting_post() -> tuple[Api, Api, dict[str, Any]]:
    """The moderator, the author, and the post as the queue has it."""
    community, author = CommunityFactory(pre_moderation="everyone"), Api.as_person(PersonFactory())
    page = MessageFactory().page_id
    body = {"pageId": page, "communityId": str(community.pk), "content": "First"}
    assert author.post("/api/messages", body).json["status"] == "pending"
    # Long before an edit, however fast the machine is.
    Message.objects.filter(community=community).update(updated_at=T)
    moderator = Api.as_person(SuperAdminFactory())
    (seen,) = moderator.get("/v1/moderation/queue", communityId=str(community.pk)).json["messages"]
    return moderator, author, seen


def test_the_api_refuses_to_approve_a_text_that_came_after_the_one_in_the_queue() -> None:
    moderator, author, seen = waiting_post()
    approve, post = f"/v1/moderation/messages/{seen['id']}/approve", f"/api/messages/{seen['id']}"
    assert author.put(post, {"content": "Second"}).status == 200
    refused = moderator.post(approve, {"seenUpdatedAt": seen["updatedAt"]})
    assert (refused.status, refused.error) == (409, "message_edited")
    assert Api().get(post).status == 404
    (now,) = moderator.get("/v1/moderation/queue").json["messages"]
    assert moderator.post(approve, {"seenUpdatedAt": now["updatedAt"]}).json["status"] == "published"


def test_the_field_of_the_api_is_optional() -> None:
    for body in ({}, {"seenUpdatedAt": None}, None):
        moderator, author, seen = waiting_post()
        assert author.put(f"/api/messages/{seen['id']}", {"content": "Second"}).status == 200
        assert moderator.post(f"/v1/moderation/messages/{seen['id']}/approve", body).json["status"] == "published"


NO_TIMES: list[Any] = [
    *(5, True, [], {}, "", "now", "2026-05-01", "2026-05-01T12:00:00", "2026-05-01 12:00:00Z"),
    *("2026-W18-5T12:00:00Z", "2026-05-01T12Z", "2026-05-01T12:00:00+0000"),
    *("2026-02-30T12:00:00Z", "2026-05-01T25:00:00Z", "0000-05-01T12:00:00Z", "2026-05-01T12:00:00+99:00"),
    *("２026-05-01T12:00:00Z", "2026-05-01T12:00:00Z\n"),
]


def test_another_value_than_a_time_in_rfc_3339_is_400() -> None:
    moderator, _author, seen = waiting_post()
    approve = f"/v1/moderation/messages/{seen['id']}/approve"
    for wrong in NO_TIMES:
        refused = moderator.post(approve, {"seenUpdatedAt": wrong})
        assert (refused.status, refused.refusal) == (400, {"error": "invalid_input", "field": "seenUpdatedAt"}), wrong
    for time in ("9999-12-31T23:59:59.9999999-23:59", "2026-11-27t12:00:00z", "3000-01-01T00:00:00.1+05:30"):
        Message.objects.filter(pk=seen["id"]).update(status="pending")
        assert moderator.post(approve, {"seenUpdatedAt": time}).json["status"] == "published", time
