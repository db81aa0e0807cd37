"""Undoing decisions on posts: the post and its reports are as before."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.admin.models import LogEntry

from messaging.models import Account, Decision, Message, Report
from messaging.moderation.reporting import dismiss_reports, reopen_reports
from messaging.moderation.services import (
    approve_message,
    hide_message,
    restore_message,
    return_to_review,
    undo_hiding,
    undo_restoring,
)
from messaging.posts.exceptions import NotInThisState
from tests.api import Api
from tests.factories import CommunityFactory, MessageFactory, PersonFactory, SuperAdminFactory
from tests.hiding import hide_posts_of, restore_posts_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def boss() -> Account:
    account: Account = SuperAdminFactory()
    return account


def report(message: Message) -> None:
    sent = {"reason": "spam"}
    assert Api.as_person(PersonFactory()).post(f"/api/messages/{message.pk}/report", sent).status == 200


def open_reports(message: Message) -> int:
    return Report.objects.filter(message=message, closed_at=None).count()


def status_of(message: Message) -> str:
    return str(Message.objects.values_list("status", flat=True).get(pk=message.pk))


def test_undoing_the_hiding_of_a_reported_post_opens_its_reports(boss: Account) -> None:
    message, other = MessageFactory(), MessageFactory()
    for each in (message, other):
        report(each)
        hide_message(message_id=each.pk, by=boss, reason="Spam.")
        assert open_reports(each) == 0
    undo_hiding(message_id=message.pk, by=boss)
    assert (status_of(message), open_reports(message)) == ("published", 1)
    assert (status_of(other), open_reports(other)) == ("hidden", 0)


def test_undoing_the_approval_of_a_reported_post_opens_its_reports(boss: Account) -> None:
    message, other = MessageFactory.create_batch(2, community=CommunityFactory(reports_to_hide=1))
    for each in (message, other):
        report(each)
        approve_message(message_id=each.pk, by=boss)
    return_to_review(message_id=message.pk, by=boss)
    assert (status_of(message), open_reports(message)) == ("pending", 1)
    assert (status_of(other), open_reports(other)) == ("published", 0)


def test_a_decision_is_not_undone_after_a_later_one(boss: Account) -> None:
    other = SuperAdminFactory()
    for status, decide, undo, opposite in (
        ("published", hide_message, undo_hiding, restore_message),
        ("pending", hide_message, return_to_review, restore_message),
        ("pending", approve_message, return_to_review, return_to_review),
        ("hidden", restore_message, undo_restoring, hide_message),
    ):
        message = MessageFactory(status=status)
        first = decide(message_id=message.pk, by=boss)
        opposite(message_id=message.pk, by=other)
        later = decide(message_id=message.pk, by=other)
        with pytest.raises(NotInThisState):
            undo(message_id=message.pk, by=boss, decided_at=first.decided_at)
        assert status_of(message) == first.status
        undo(message_id=message.pk, by=boss, decided_at=later.decided_at)
        assert status_of(message) != first.status


def test_reports_that_an_earlier_decision_closed_stay_closed(boss: Account) -> None:
    for undo in (undo_hiding, return_to_review):
        message = MessageFactory()
        report(message)
        hide_message(message_id=message.pk, by=boss)
        restore_message(message_id=message.pk, by=boss)
        report(message)
        dismiss_reports(message_id=message.pk, by=boss)
        hide_message(message_id=message.pk, by=boss)
        undo(message_id=message.pk, by=boss)
        reopen_reports(message_id=message.pk, by=boss)
        assert open_reports(message) == 0


def test_returning_a_reported_post_to_review_is_no_decision_on_its_reports(boss: Account) -> None:
    message = MessageFactory()
    report(message)
    return_to_review(message_id=message.pk, by=boss)
    assert (status_of(message), open_reports(message)) == ("pending", 1)


def test_restoring_all_posts_of_an_author_opens_the_reports_that_hiding_them_closed(boss: Account) -> None:
    earlier, author = MessageFactory(), PersonFactory()
    Message.objects.filter(pk=earlier.pk).update(author=author)
    messages = [earlier, *MessageFactory.create_batch(2, author=author)]
    report(earlier)
    dismiss_reports(message_id=earlier.pk, by=boss)
    report(messages[1])
    hide_posts_of(author=author, by=boss)
    restore_posts_of(author=author, by=boss)
    assert [open_reports(message) for message in messages] == [0, 1, 0]


def test_undoing_the_hiding_of_a_post_that_reports_had_held_holds_it_again(boss: Account) -> None:
    message = MessageFactory(community=CommunityFactory(reports_to_hide=1))
    report(message)
    hide_message(message_id=message.pk, by=boss)
    undo_hiding(message_id=message.pk, by=boss)
    assert (status_of(message), open_reports(message)) == ("pending", 1)


@pytest.mark.parametrize(
    ("status", "hide"),
    [
        ("published", lambda post, by: hide_message(message_id=post.pk, by=by)),
        ("pending", lambda post, by: hide_message(message_id=post.pk, by=by)),
        ("published", lambda post, by: hide_posts_of(author=post.author, by=by)),
        ("pending", lambda post, by: hide_posts_of(author=post.author, by=by)),
    ],
)
def test_undoing_a_restoring_hides_the_post_as_it_was_hidden(
    boss: Account, status: str, hide: Callable[[Message, Account], object]
) -> None:
    parent = MessageFactory()
    message = MessageFactory(status=status, parent=parent, community=CommunityFactory())
    Message.objects.filter(pk=parent.pk).update(reply_count=int(status == "published"))
    hide(message, boss)
    hidden = Message.objects.get(pk=message.pk)
    restore_message(message_id=message.pk, by=boss)
    undo_restoring(message_id=message.pk, by=boss, reason="Wrong key.")
    again = Message.objects.get(pk=message.pk)
    assert (again.status, again.status_before_hiding) == ("hidden", hidden.status_before_hiding)
    # It was public meanwhile.
    assert again.was_public
    parent.refresh_from_db()
    assert parent.reply_count == 0
    assert LogEntry.objects.latest("pk").change_message.endswith(": Wrong key.")
    assert Decision.objects.latest("pk").act == "hidden"
    undo_hiding(message_id=message.pk, by=boss)
    assert status_of(message) == status
