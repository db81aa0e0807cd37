"""The cost of a feed: one statement that reads about as many posts as it returns, and no other plan changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django.plugin import DjangoDbBlocker

from messaging.feeds.queries import POSTS_MAX
from messaging.models import Community, Page
from messaging.posts import lists
from tests.api import Api
from tests.factories import CommunityFactory, MessageFactory, PageFactory, PersonFactory
from tests.module_rows import undone_after_module
from tests.plans import nodes, plan_of, rows_read

pytestmark = pytest.mark.django_db
# PostgreSQL has no statistics of a partial index, so it assumes that 0.5% of all posts are in a community. That has to
# be more than a feed has: then the index in order is cheaper than a bitmap, with any number of dead rows in the table.
POSTS = 50_000
# A page with as many replies as posts, all in one community, and a page with few posts by another one.
LOAD = """
INSERT INTO messaging_message (id, page_id, author_id, author_kind, community_id, parent_id, status, content,
    attachments, reply_count, quote_count, reaction_counts, reaction_total, created_at, updated_at)
SELECT ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, %(page)s, %(author)s, 'human', %(community)s,
    CASE WHEN n > 1 AND n %% 2 = 0 THEN %(parent)s END::uuid, 'published', 'Post ' || n,
    '[]', 0, 0, '{}', 0, timestamptz '2026-01-01' + n * interval '1 second', now()
FROM generate_series(1, %(posts)s) n
"""


@pytest.fixture(scope="module")
def pages(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[tuple[Page, Community, Page]]:
    with undone_after_module(django_db_blocker):
        yield load()


def load() -> tuple[Page, Community, Page]:
    """The large page, its community, and a page with few posts by other communities.

    On average, a community has fewer posts than a page.
    """
    page, community = PageFactory(), CommunityFactory()
    parent = UUID("00000000-0000-7000-8000-000000000001")
    values = {"page": page.pk, "author": PersonFactory().pk, "community": community.pk, "parent": parent}
    with connection.cursor() as cursor:
        # The time of the load depends on the machine. It skips the checks of foreign keys.
        cursor.execute("SET LOCAL statement_timeout = 0")
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(LOAD, values | {"posts": POSTS})
        cursor.execute("SET LOCAL session_replication_role = origin")
        small = PageFactory()
        for _ in range(10):
            MessageFactory(page=small, community=CommunityFactory())
        # With few accounts, a plan that joins before it limits is the cheapest.
        cursor.execute("ANALYZE messaging_message, messaging_account, messaging_page")
    return page, community, small


def messages_read(path: str) -> tuple[int, set[str]]:
    """(the posts that the statements of a request read, the indexes that they use)."""
    with CaptureQueriesContext(connection) as captured:
        assert Api().get(path).status == 200
    plans = [plan_of(query["sql"]) for query in captured]
    reads = [node for plan in plans for node in nodes(plan) if node.get("Relation Name") == "messaging_message"]
    assert {node["Node Type"] for node in reads} <= {"Index Scan", "Index Only Scan"}, reads
    return sum(rows_read(plan, "messaging_message") for plan in plans), {node["Index Name"] for node in reads}


def test_a_feed_reads_about_as_many_posts_as_it_returns(pages: tuple[Page, Community, Page]) -> None:
    large, community, small = pages
    # Posts and replies are merged, which reads one more.
    indexes = {"listed_posts", "feed_of_page_replies"}
    assert messages_read(f"/feeds/pages/{large.pk}.atom") == (POSTS_MAX + 1, indexes)
    assert messages_read(f"/feeds/communities/{community.slug}.atom") == (POSTS_MAX, {"feed_of_community"})
    assert messages_read(f"/feeds/pages/{small.pk}.atom")[0] == 10


def test_a_list_by_community_does_not_use_the_index_of_feeds(pages: tuple[Page, Community, Page]) -> None:
    """With an index of the community itself, the generic plan read all its posts: 75,000, in 43 ms instead of 0.1."""
    _large, community, small = pages
    filters = {"community_id": community.pk}
    asked = lists.MessageList(small.pk, filters=filters)
    where, values = lists._where(asked, None, None)
    where = " AND ".join([where, *asked.filtered])
    statement = lists._statement(asked, where, 11, with_top_reply=False, is_weighed=False)
    for number, name in enumerate(values, 1):
        statement = statement.replace(f"%({name})s", f"${number}")
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (GENERIC_PLAN, FORMAT JSON) {statement}")
        ((output,),) = cursor.fetchall()
    indexes = {node.get("Index Name") for node in nodes(output[0]["Plan"])}
    assert "listed_posts" in indexes
    assert not indexes & {"feed_of_community", "feed_of_page_replies"}


def test_a_feed_is_one_statement_and_one_for_the_slug(django_assert_num_queries: Any) -> None:
    message = MessageFactory(community=CommunityFactory())
    for path, statements in ((f"pages/{message.page_id}", 1), (f"communities/{message.community.slug}", 2)):
        with django_assert_num_queries(statements):
            assert Api().get(f"/feeds/{path}.json").status == 200
