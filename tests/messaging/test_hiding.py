"""Hiding and restoring all posts by an author: statuses, counts, and short transactions."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.db.models import Count, F, Q
from django.test import Client
from django.test.utils import CaptureQueriesContext

from kernel.changes.wakeups import NOTIFY
from messaging.models import Account, Message
from messaging.moderation import services as hiding
from messaging.moderation.lists import running
from messaging.moderation.services import approve_message, hide_message, restore_message
from messaging.posts.exceptions import NotInThisState
from tests.admin.pages import decide, page
from tests.agents.factories import agent_with_token
from tests.agents.racing import race
from tests.api import Api
from tests.factories import CommunityFactory, MessageFactory, PageFactory, PersonFactory, SuperAdminFactory
from tests.hiding import hide_posts_of, restore_posts_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def boss() -> Account:
    return SuperAdminFactory()


@pytest.fixture
def author() -> Account:
    return PersonFactory()


def states(*posts: Message) -> list[str]:
    current = Message.objects.in_bulk([post.pk for post in posts])
    return [current[post.pk].status for post in posts]


def wrong_counts() -> list[Message]:
    """Posts whose counts are not the number of their listed replies and published quotes."""
    is_listed = Q(replies__status="published") | Q(replies__is_tombstone=True)
    published = {
        "replied": Count("replies", filter=is_listed, distinct=True),
        "quoted": Count("quotes", filter=Q(quotes__status="published"), distinct=True),
    }
    posts = Message.objects.annotate(**published)
    return list(posts.exclude(reply_count=F("replied"), quote_count=F("quoted")))


def test_restoring_publishes_only_posts_that_were_hidden_together(author: Account, boss: Account) -> None:
    shown, waiting, hidden = (
        MessageFactory(author=author, status=status) for status in ("published", "pending", "hidden")
    )
    deleted, another = MessageFactory(author=author, status="deleted"), MessageFactory()
    every = [shown, waiting, hidden, deleted, another]
    assert hide_posts_of(author=author, by=boss, reason="Spam") == 2
    assert states(*every) == ["hidden", "hidden", "hidden", "deleted", "published"]
    assert restore_posts_of(author=author, by=boss) == 2
    assert states(*every) == ["published", "pending", "hidden", "deleted", "published"]


def test_restoring_does_not_change_posts_that_were_moderated_meanwhile(author: Account, boss: Account) -> None:
    shown, again, other = (MessageFactory(author=author) for _ in range(3))
    hide_posts_of(author=author, by=boss)
    for post in (shown, again):
        restore_message(message_id=post.pk, by=boss)
    hide_message(message_id=again.pk, by=boss, reason="Rude")
    restore_posts_of(author=author, by=boss)
    assert states(shown, again, other) == ["published", "hidden", "published"]


def test_hiding_and_restoring_are_idempotent(author: Account, boss: Account) -> None:
    MessageFactory(author=author)
    assert [hide_posts_of(author=author, by=boss, reason="Spam") for _ in range(2)] == [1, 0]
    assert [restore_posts_of(author=author, by=boss) for _ in range(2)] == [1, 0]
    entries = LogEntry.objects.order_by("pk").values_list("user", "object_id", "change_message")
    assert list(entries) == [
        (boss.pk, str(author.pk), "All posts hidden (1): Spam"),
        (boss.pk, str(author.pk), "All posts hidden (0): Spam"),
        (boss.pk, str(author.pk), "All posts restored (1)."),
        (boss.pk, str(author.pk), "All posts restored (0)."),
    ]


def test_counts_are_correct_with_replies_to_the_same_author(
    author: Account, boss: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "BATCH", 3)
    mine, other = MessageFactory(author=author), MessageFactory()
    for parent, quote in ((mine, other), (other, mine), (mine, mine), (other, other), (mine, None), (None, other)):
        MessageFactory(author=author, parent=parent, quote=quote)
        MessageFactory(parent=parent, quote=quote)
        MessageFactory(author=author, parent=parent, quote=quote, status="pending")
    assert wrong_counts() == []
    before = list(Message.objects.order_by("pk").values_list("status", "reply_count", "quote_count"))
    hide_posts_of(author=author, by=boss)
    assert wrong_counts() == []
    assert not Message.objects.filter(author=author, status="published").exists()
    restore_posts_of(author=author, by=boss)
    assert list(Message.objects.order_by("pk").values_list("status", "reply_count", "quote_count")) == before


def test_hiding_posts_of_an_agent_changes_lists_at_once(boss: Account, django_capture_on_commit_callbacks: Any) -> None:
    agent, page_row = agent_with_token(), PageFactory()
    with django_capture_on_commit_callbacks(execute=True):
        post = agent.api.post("/api/messages", {"pageId": page_row.pk, "content": "Hi"}).json

    def listed() -> int:
        return len(Api().get("/api/messages", pageId=page_row.pk).json["messages"])

    assert listed() == 1
    with django_capture_on_commit_callbacks(execute=True):
        hide_posts_of(author=agent.account, by=boss)
    assert (listed(), Api().get(f"/api/messages/{post['id']}").status) == (0, 404)
    with django_capture_on_commit_callbacks(execute=True):
        restore_posts_of(author=agent.account, by=boss)
    assert (listed(), Api().get(f"/api/messages/{post['id']}").status) == (1, 200)


@pytest.mark.django_db(transaction=True)
def test_batches_are_short_transactions_of_a_few_statements(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "BATCH", 6)
    author, boss, parent = PersonFactory(), SuperAdminFactory(), MessageFactory()
    for _ in range(30):
        MessageFactory(author=author, parent=parent)
    for change in (hide_posts_of, restore_posts_of):
        with CaptureQueriesContext(connection) as seen:
            assert change(author=author, by=boss) == 30
        # Outside of tests, a thread sends the wake-ups.
        statements = [query["sql"] for query in seen.captured_queries if query["sql"] != NOTIFY]
        # Each batch, the beginning of the job, and its lease.
        assert statements.count("COMMIT") == 5 + 2
        assert len(statements) <= 5 * 16 + 20
        assert wrong_counts() == []


@pytest.mark.django_db(transaction=True)
def test_a_batch_locks_only_its_own_posts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other sessions can write to the author's other posts while a batch has locked its own."""
    monkeypatch.setattr(running, "BATCH", 2)
    author, boss = PersonFactory(), SuperAdminFactory()
    posts = [MessageFactory(author=author) for _ in range(6)]
    lock_posts = hiding.locked_posts
    seen: list[int] = []

    def lock_and_count(ids: Any, rows: Any) -> list[Message]:
        """While the rows of the batch are locked, another session can lock every other row."""
        locked = lock_posts(ids, rows)
        with psycopg.connect(**connection.get_connection_params()) as elsewhere:
            seen.append(
                len(elsewhere.execute("SELECT id FROM messaging_message FOR NO KEY UPDATE SKIP LOCKED").fetchall())
            )
        return locked

    monkeypatch.setattr(hiding, "locked_posts", lock_and_count)
    hide_posts_of(author=author, by=boss)
    assert seen == [4, 4, 4]
    assert states(*posts) == ["hidden"] * 6


@pytest.mark.django_db(transaction=True)
def test_counts_are_correct_after_concurrent_writes_and_decisions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "BATCH", 3)
    boss, agent, page_row = SuperAdminFactory(), agent_with_token(), PageFactory()
    parents = [MessageFactory(page=page_row, author=agent.account) for _ in range(4)]
    replies = [
        MessageFactory(author=agent.account, parent=parents[n % 4], quote=parents[(n + 1) % 4]) for n in range(12)
    ]
    monkeypatch.setattr("kernel.api.throttling.hit", lambda *_arguments: None)

    def one(index: int) -> None:
        for turn in range(3):
            _act(index, turn)

    def _act(index: int, turn: int) -> None:
        match index % 4:
            case 0:
                hide_posts_of(author=agent.account, by=boss)
            case 1:
                restore_posts_of(author=agent.account, by=boss)
            case 2:
                for parent in parents:
                    body = {
                        "pageId": page_row.pk,
                        "content": "x",
                        "parentId": str(parent.pk),
                        "quoteId": str(parents[turn].pk),
                    }
                    assert agent.api.post("/api/messages", body).status in {201, 404}
            case _:
                _moderate(replies[turn], boss)

    race(8, one)
    assert wrong_counts() == []
    restore_posts_of(author=agent.account, by=boss)
    assert wrong_counts() == []


def _moderate(post: Message, by: Account) -> None:
    for decide_on in (hide_message, restore_message):
        try:
            decide_on(message_id=post.pk, by=by)
        except NotInThisState:
            continue


def test_an_approved_post_is_not_restored_again(author: Account, boss: Account) -> None:
    waiting = MessageFactory(author=author, status="pending", community=CommunityFactory())
    hide_posts_of(author=author, by=boss)
    restore_posts_of(author=author, by=boss)
    approve_message(message_id=waiting.pk, by=boss)
    assert restore_posts_of(author=author, by=boss) == 0
    assert states(waiting) == ["published"]


class TestAdmin:
    @pytest.fixture
    def admin_client(self, boss: Account) -> Client:
        client = Client()
        client.force_login(boss)
        return client

    def test_confirms_with_the_number_of_posts_requires_a_reason_and_restores(
        self, admin_client: Client, author: Account
    ) -> None:
        posts = [MessageFactory(author=author) for _ in range(3)]
        confirmation = admin_client.get(page(author, "hide-posts")).content.decode()
        assert "3 posts published or pending" in confirmation
        assert states(*posts) == ["published"] * 3
        assert "This field is required" in decide(admin_client, author, "hide-posts")
        assert "the posts are being hidden" in decide(admin_client, author, "hide-posts", reason="Spam")
        text = admin_client.get(page(author)).content.decode()
        assert "All posts hidden (3): Spam" in text
        assert page(author, "hide-posts") not in text
        decide(admin_client, author, "restore-posts")
        assert states(*posts) == ["published"] * 3
        assert page(author, "restore-posts") not in admin_client.get(page(author)).content.decode()

    def test_agents_have_the_action_and_link_to_it(self, admin_client: Client) -> None:
        agent = agent_with_token()
        MessageFactory(author=agent.account)
        assert page(agent.account) in admin_client.get(page(agent.agent)).content.decode()
        assert page(agent.account, "hide-posts") in admin_client.get(page(agent.account)).content.decode()
