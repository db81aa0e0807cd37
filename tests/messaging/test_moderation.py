"""Moderation: the statuses that each decision requires and sets, the counts, and the log entries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.contrib.admin.models import LogEntry

from messaging.models import Account, Message, MessageStatus
from messaging.moderation.services import approve_message, hide_message, restore_message
from messaging.posts.exceptions import MessageNotFound, NotInThisState
from tests.agents.factories import agent_with_token
from tests.agents.racing import race
from tests.api import Api
from tests.factories import CommunityFactory, MessageFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
Decision = Callable[..., Message]
PUBLISHED, PENDING, HIDDEN, DELETED = MessageStatus
STARTS: dict[Decision, dict[str, str]] = {
    approve_message: {PENDING: PUBLISHED},
    hide_message: {PUBLISHED: HIDDEN, PENDING: HIDDEN},
    restore_message: {HIDDEN: PUBLISHED},
}


@pytest.fixture
def admin() -> Account:
    return SuperAdminFactory()


@pytest.mark.parametrize("decide", STARTS, ids=lambda decide: decide.__name__)
def test_each_decision_requires_certain_statuses_and_is_about_one_post(admin: Account, decide: Decision) -> None:
    with pytest.raises(MessageNotFound):
        decide(message_id=uuid4(), by=admin)
    for start in MessageStatus.values:
        message, bystander = MessageFactory(status=start), MessageFactory(status=start)
        end = STARTS[decide].get(start)
        if end is None:
            with pytest.raises(NotInThisState) as refused:
                decide(message_id=message.pk, by=admin)
            assert refused.value.fields == {"status": start}
        else:
            assert decide(message_id=message.pk, by=admin).status == end
        message.refresh_from_db()
        bystander.refresh_from_db()
        assert (message.status, bystander.status) == (end or start, start)
        assert LogEntry.objects.filter(object_id=str(message.pk)).count() == (end is not None)
        assert Api().get(f"/api/messages/{message.pk}").status == (200 if message.status == PUBLISHED else 404)
    assert LogEntry.objects.count() == len(STARTS[decide])


def test_counts_include_published_posts_only(admin: Account) -> None:
    parent, quoted = MessageFactory(), MessageFactory()
    reply = MessageFactory(parent=parent, quote=quoted, status=PENDING)

    def counts() -> tuple[int, int]:
        parent.refresh_from_db()
        quoted.refresh_from_db()
        return parent.reply_count, quoted.quote_count

    assert counts() == (0, 0)
    approve_message(message_id=reply.pk, by=admin)
    assert counts() == (1, 1)
    hide_message(message_id=reply.pk, by=admin)
    assert counts() == (0, 0)
    restore_message(message_id=reply.pk, by=admin)
    assert counts() == (1, 1)


def test_a_hidden_reply_that_quotes_its_parent_is_counted_in_neither_and_a_pending_one_never_was(
    admin: Account,
) -> None:
    target = MessageFactory()
    pending, published, _other = (
        MessageFactory(parent=target, quote=target, status=status) for status in (PENDING, PUBLISHED, PUBLISHED)
    )
    for reply, count in ((pending, 2), (published, 1)):
        hide_message(message_id=reply.pk, by=admin)
        target.refresh_from_db()
        assert (target.reply_count, target.quote_count) == (count, count)


def test_a_decision_is_logged_with_actor_and_reason(admin: Account) -> None:
    message = MessageFactory()
    hide_message(message_id=message.pk, by=admin, reason="Off topic")
    entry = LogEntry.objects.get()
    assert (entry.user_id, entry.object_id) == (admin.pk, str(message.pk))
    assert entry.change_message == "Hidden (published → hidden): Off topic"
    changed = Message.objects.get(pk=message.pk)
    assert changed.updated_at > message.updated_at
    assert changed.content == message.content


def test_a_pending_post_is_published_by_approval(admin: Account) -> None:
    community = CommunityFactory(pre_moderation="agents")
    page = MessageFactory().page
    body = {"pageId": page.pk, "content": "Wait", "communityId": str(community.pk)}
    created = agent_with_token().api.post("/api/messages", body).json
    assert created["status"] == "pending"
    assert [str(message.pk) for message in Message.objects.pending()] == [created["id"]]
    approve_message(message_id=UUID(created["id"]), by=admin)
    assert Api().get(f"/api/messages/{created['id']}").json["status"] == "published"
    assert created["id"] in {row["id"] for row in Api().get("/api/messages", pageId=page.pk).json["messages"]}


@pytest.mark.django_db(transaction=True)
def test_of_concurrent_approvals_one_succeeds() -> None:
    parent = MessageFactory()
    message, admins = MessageFactory(parent=parent, status=PENDING), [SuperAdminFactory() for _ in range(8)]

    def decide(number: int) -> Any:
        try:
            return approve_message(message_id=message.pk, by=admins[number]).status
        except NotInThisState as refused:
            return refused.default_code

    assert sorted(race(8, decide)) == ["message_state_changed"] * 7 + ["published"]
    parent.refresh_from_db()
    assert (parent.reply_count, LogEntry.objects.count()) == (1, 1)


@pytest.mark.django_db(transaction=True)
def test_concurrent_replies_and_moderation_do_not_deadlock(settings: Any) -> None:
    """Concurrent replies, mutual quotes and decisions on them all succeed, and the counts match the rows."""
    settings.HOURLY_LIMITS = dict.fromkeys(settings.HOURLY_LIMITS, 10**6)
    posts = [MessageFactory() for _ in range(3)]
    page, agent, admin = posts[0].page, agent_with_token(), SuperAdminFactory()
    Message.objects.update(page=page)

    def work(number: int) -> set[int]:
        statuses = set()
        for step in range(3):
            parent, quote = posts[(number + step) % 3], posts[(number + step + 1) % 3]
            body = {"pageId": page.pk, "content": "x", "parentId": str(parent.pk), "quoteId": str(quote.pk)}
            response = agent.api.post("/api/messages", body)
            statuses.add(response.status)
            message_id = UUID(response.json["id"])
            hide_message(message_id=message_id, by=admin)
            if step % 2:
                restore_message(message_id=message_id, by=admin)
        return statuses

    assert race(8, work) == [{201}] * 8
    for post in posts:
        post.refresh_from_db()
        assert post.reply_count == post.replies.published().count()
        assert post.quote_count == post.quotes.published().count()
