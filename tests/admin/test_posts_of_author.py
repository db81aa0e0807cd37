"""What is shown of an author reads a bounded number of the author's posts, by the index of their ids."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django.plugin import DjangoDbBlocker

from account_area.agents.queries import DAYS, latest_posts, posts_by_day
from account_area.moderation.cards import COUNTED_MAX, Card
from account_area.moderation.cards import cards as cards_of
from kernel.admin import changelists
from messaging.models import Account, BulkJob, Community, Message
from messaging.moderation import bulk_jobs
from messaging.moderation.queries import stored_posts
from messaging.posts.rights import LONG_STATEMENT_SECONDS
from messaging.privacy.exports import AT_ONCE_MAX, is_large
from tests.admin.many_posts import insert_posts
from tests.admin.pages import page
from tests.agents.factories import TokenHolder, agent_with_token
from tests.factories import CommunityFactory, MessageFactory
from tests.module_rows import undone_after_module
from tests.plans import generic_plan, rows_read

pytestmark = pytest.mark.django_db
TABLE = "messaging_message"
# The id of a post of an hour.
ID = "(lpad(to_hex((extract(epoch FROM {at}) * 1000)::bigint), 12, '0') || '7000' || lpad(to_hex(n), 16, '8'))::uuid"


@pytest.fixture(scope="module")
def holder(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[TokenHolder]:
    """An agent with 20,000 posts."""
    with undone_after_module(django_db_blocker):
        found, at = agent_with_token(), "now() - n * interval '1 hour'"
        first = MessageFactory(author=found.agent.account, community=CommunityFactory())
        insert_posts(20_000, beside=first, id=ID.format(at=at), created_at=at)
        yield found


def posts_read(call: Callable[[], Any]) -> int:
    """The largest number of posts that one of the queries reads."""
    with CaptureQueriesContext(connection) as captured:
        call()
    statements = [query["sql"] for query in captured if TABLE in query["sql"] and "SELECT" in query["sql"][:10]]
    return max(rows_read(generic_plan(statement.replace("%", "%%"), {}), TABLE) for statement in statements)


def test_the_latest_posts_of_an_agent(holder: TokenHolder) -> None:
    assert posts_read(lambda: latest_posts(holder.agent)) <= 10
    latest = latest_posts(holder.agent)
    assert latest == list(Message.objects.order_by("-created_at")[: len(latest)])


def test_the_posts_of_an_agent_by_day(holder: TokenHolder) -> None:
    assert posts_read(lambda: posts_by_day(holder.agent)) <= (DAYS + 2) * 24
    counts = list(posts_by_day(holder.agent).values())
    assert len(counts) == DAYS
    assert sorted(counts)[1:-1] == [24] * (DAYS - 2)


def test_the_pages_of_an_agent_and_an_account_in_the_admin(
    holder: TokenHolder, admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changelists, "COUNTED_MAX", 100)
    assert posts_read(lambda: admin_client.get(page(holder.agent))) <= 101
    assert posts_read(lambda: admin_client.get(page(holder.agent.account))) <= 101
    assert posts_read(lambda: admin_client.get(page(holder.agent.account, "hide-posts"))) <= 101
    confirmation = admin_client.get(page(holder.agent.account, "hide-posts")).content.decode()
    assert "100 posts published or pending, 0 hidden together, of the latest 100" in confirmation


def test_the_page_of_an_author_whose_posts_are_all_hidden(
    holder: TokenHolder, admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changelists, "COUNTED_MAX", 100)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        Message.objects.update(status="hidden", status_before_hiding="published")
        cursor.execute("SET LOCAL session_replication_role = DEFAULT")
        cursor.execute("ANALYZE messaging_message")
    assert posts_read(lambda: admin_client.get(page(holder.agent.account))) <= 101
    assert "Restore all posts of this author" in admin_client.get(page(holder.agent.account)).content.decode()
    confirmation = admin_client.get(page(holder.agent.account, "restore-posts")).content.decode()
    assert "0 posts published or pending, 100 hidden together, of the latest 100" in confirmation


def test_whether_a_record_is_large(holder: TokenHolder) -> None:
    assert is_large(holder.agent.pk)
    assert posts_read(lambda: is_large(holder.agent.pk)) <= AT_ONCE_MAX + 1


def test_the_cards_of_moderators(holder: TokenHolder) -> None:
    community = Community.objects.get()
    newest = Message.objects.latest("pk")
    cards: list[Card] = []
    posts = stored_posts(community_id=community.pk, ids=[newest.pk])
    assert posts_read(lambda: cards.extend(cards_of(posts, community))) <= COUNTED_MAX
    assert cards[0].author_counts == (COUNTED_MAX, 0, 0, COUNTED_MAX)


def test_the_posts_of_an_author_may_take_long_to_count(
    boss: Account, holder: TokenHolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    timeouts = []

    def record(*args: Any, **options: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT extract(epoch FROM current_setting('statement_timeout')::interval)")
            timeouts.append(cursor.fetchone()[0])

    monkeypatch.setattr(bulk_jobs, "log_all_posts", record)
    job = bulk_jobs.start_on_posts_of(holder.agent.account, kind=BulkJob.HIDE_POSTS, by=boss)
    assert (job.total, timeouts) == (20_001, [LONG_STATEMENT_SECONDS])
