"""A post that a moderator has hidden stays hidden with its thread when its author is erased with all posts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from kernel.jobs.queue import run_due
from messaging.models import BulkJob, Message, PostsChoice
from messaging.moderation.services import (
    approve_message,
    hide_message,
    restore_batch,
    restore_message,
    return_to_review,
    undo_hiding,
    undo_restoring,
)
from messaging.posts.exceptions import NotInThisState
from messaging.privacy.erasing import request_erasure
from tests.api import Api
from tests.hiding import hide_posts_of
from tests.messaging.test_hidden_threads import Thread
from tests.messaging.test_hiding import wrong_counts

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def thread() -> Thread:
    return Thread()


def erase_author(thread: Thread) -> Message:
    author = thread.post.author
    request_erasure(person=author, posts=PostsChoice.DELETED, by=author, wait=timedelta())
    assert run_due("erasures") == 1
    thread.post.refresh_from_db()
    return thread.post


def last_change(message: Message) -> str:
    changes = Api().get("/v1/changes", pageId=message.page_id, limit=100).json["changes"]
    return [change["type"] for change in changes if change["messageId"] == str(message.pk)][-1]


def test_the_thread_of_a_hidden_post_stays_hidden(thread: Thread) -> None:
    hide_message(message_id=thread.post.pk, by=thread.boss)
    post = erase_author(thread)
    assert (post.status, post.content, str(post)) == ("hidden", "", "[deleted]")
    assert [thread.is_shown(message) for message in (thread.post, thread.reply, thread.last)] == [False] * 3
    assert thread.numbers() == (0, 0, 0)


@pytest.mark.parametrize("decide", [restore_message, undo_hiding, return_to_review])
def test_restoring_it_shows_a_tombstone_and_the_answers(thread: Thread, decide: Callable[..., Message]) -> None:
    hide_message(message_id=thread.post.pk, by=thread.boss)
    erase_author(thread)
    restored = decide(message_id=thread.post.pk, by=thread.boss)
    assert restored.status == "deleted"
    record = Api().get(f"/api/messages/{thread.post.pk}").json
    assert (record["status"], record["content"], record["author"]["handle"]) == ("deleted", "", "deleted")
    assert last_change(thread.post) == "message.deleted"
    assert [thread.is_shown(message) for message in (thread.reply, thread.last)] == [True] * 2
    assert thread.numbers() == (0, 2, 2)
    assert not wrong_counts()


def test_a_restoring_of_it_is_undone_with_its_thread(thread: Thread) -> None:
    hide_message(message_id=thread.post.pk, by=thread.boss)
    erase_author(thread)
    for _ in range(2):
        restore_message(message_id=thread.post.pk, by=thread.boss)
        assert thread.is_shown(thread.last)
        assert undo_restoring(message_id=thread.post.pk, by=thread.boss).status == "hidden"
        assert last_change(thread.post) == "message.hidden"
        assert not thread.is_shown(thread.last)
        assert thread.numbers() == (0, 0, 0)
        assert not wrong_counts()


def test_a_post_that_its_author_deleted_is_not_hidden_by_undoing(thread: Thread) -> None:
    assert Api.as_person(thread.post.author).delete(f"/api/messages/{thread.post.pk}").status == 200
    with pytest.raises(NotInThisState):
        undo_restoring(message_id=thread.post.pk, by=thread.boss)


def test_posts_that_were_hidden_together_are_not_restored_together_any_more(thread: Thread) -> None:
    hide_posts_of(author=thread.post.author, by=thread.boss)
    job = BulkJob.objects.get()
    post = erase_author(thread)
    assert restore_batch({post.pk: None}, thread.boss, "") == {}
    assert not BulkJob.objects.filter(pk=job.pk).exists()
    assert not thread.is_shown(thread.last)


def test_a_post_that_waits_for_approval_is_deleted_as_by_its_author(thread: Thread) -> None:
    Message.objects.filter(pk=thread.post.pk).update(status="pending", held_after_reports=True)
    assert not thread.is_shown(thread.last)
    assert erase_author(thread).status == "deleted"
    assert thread.is_shown(thread.last)
    with pytest.raises(NotInThisState):
        approve_message(message_id=thread.post.pk, by=thread.boss)
