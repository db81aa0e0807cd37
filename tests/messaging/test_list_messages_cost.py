"""The cost of lists: a constant number of queries, each by an index, on a page with tens of thousands of posts."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django.plugin import DjangoDbBlocker

from messaging.models import Message
from messaging.pages.presence import READ_MAX, statement_of
from messaging.posts import lists
from tests.api import Api
from tests.embeds.making import an_embed
from tests.factories import AgentAccountFactory, CommunityFactory, MessageFactory, PageFactory, PersonFactory
from tests.module_rows import undone_after_module
from tests.plans import generic_plan, nodes, plan_of, rows_read

pytestmark = pytest.mark.django_db
PATH = "/api/messages"
POSTS, REPLIES, OTHERS = 40_000, 5_000, 5_000
SCANNED = 4_000
# The statements of a list with a filter: one for the end of what the other searches.
END, LIST = slice(1), slice(1, None)

# A long page with many replies to its newest post, and another page. Every 100th post is by an agent and has a tag.
LOAD = """
INSERT INTO messaging_message (id, page_id, author_id, author_kind, community_id, parent_id, status, content, tag_type,
    attachments, reply_count, quote_count, reaction_counts, reaction_total, created_at, updated_at)
SELECT ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid,
    CASE WHEN n <= %(posts)s + %(replies)s THEN %(page)s ELSE %(other)s END,
    CASE WHEN n %% 100 = 0 THEN %(agent)s ELSE %(person)s END::uuid,
    CASE WHEN n %% 100 = 0 THEN 'agent' ELSE 'human' END,
    CASE WHEN n %% 2 = 0 THEN %(community)s END::uuid,
    CASE WHEN n BETWEEN %(posts)s + 1 AND %(posts)s + %(replies)s THEN %(parent)s END::uuid,
    CASE WHEN n %% 1000 = 1 THEN 'hidden' ELSE 'published' END,
    'Post ' || n, CASE WHEN n %% 100 = 0 THEN 'note' END,
    '[]', 0, 0, '{}', n %% 7, timestamptz '2026-01-01' + n * interval '1 second', now()
FROM generate_series(1, %(posts)s + %(replies)s + %(others)s) n
"""


@pytest.fixture(scope="module")
def long_page(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[dict[str, str]]:
    with undone_after_module(django_db_blocker):
        yield load_long_page()


def load_long_page() -> dict[str, str]:
    """The ids of the loaded rows, and their numbers."""
    ids = {
        "page": PageFactory().pk,
        "other": PageFactory().pk,
        "agent": AgentAccountFactory().pk,
        "person": PersonFactory().pk,
        "community": CommunityFactory().pk,
        "parent": UUID(f"00000000-0000-7000-8000-{POSTS:012}"),
        "posts": POSTS,
        "replies": REPLIES,
        "others": OTHERS,
    }
    with connection.cursor() as cursor:
        # The load takes seconds on a busy machine.
        cursor.execute("SET LOCAL statement_timeout = 0")
        # Skips the checks of foreign keys during the load.
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(LOAD, ids)
        cursor.execute("SET LOCAL session_replication_role = origin")
        cursor.execute("ANALYZE messaging_message")
    return {name: str(value) for name, value in ids.items()}


def plans_of(url: str) -> list[dict[str, Any]]:
    """The actual plan of every statement of a request."""
    with CaptureQueriesContext(connection) as captured:
        response = Api().get(url)
    assert response.status == 200, response.json
    return [plan_of(query["sql"]) for query in captured]


def messages_read(url: str, statements: slice = slice(None)) -> int:
    """The number of message rows that the statements of a request read; fails if one does not use an index."""
    plans = plans_of(url)[statements]
    for node in (node for plan in plans for node in nodes(plan)):
        if node.get("Relation Name") == "messaging_message":
            assert node["Node Type"] in {"Index Scan", "Index Only Scan"}, node
    return sum(rows_read(plan, "messaging_message") for plan in plans)


def test_lists_read_about_as_many_rows_as_they_return(long_page: dict[str, str]) -> None:
    page, parent, community = long_page["page"], long_page["parent"], long_page["community"]
    of_page = f"{PATH}?pageId={page}"
    deep = Api().get(PATH, pageId=page, limit=100)
    for _ in range(20):
        deep = Api().get(PATH, pageId=page, limit=100, cursor=deep.json["nextCursor"])
    assert deep.json["hasMore"]
    # Ten rows, one more for `hasMore`, and the parent of replies.
    assert messages_read(of_page) == 11
    assert messages_read(f"{of_page}&cursor={deep.json['nextCursor']}") == 11
    assert messages_read(f"{of_page}&parentId={parent}") == 12
    assert messages_read(f"{of_page}&includeTopReply=true") <= 2 * 11 + 10
    assert messages_read(f"{PATH}/{parent}") == 1
    # Where every hundredth post matches, eleven are found in 1,100.
    assert messages_read(f"{of_page}&communityId={community}", LIST) <= 2 * 11
    assert messages_read(f"{of_page}&authorKind=agent", LIST) <= 100 * 11
    assert messages_read(f"{of_page}&tagType=note", LIST) <= 100 * 11


@pytest.mark.parametrize(("sort", "limit"), [("newest", 10), ("oldest", 10), ("reactions", 100)])
def test_a_filter_that_few_posts_match_reads_a_bounded_number_of_rows(
    long_page: dict[str, str], monkeypatch: pytest.MonkeyPatch, sort: str, limit: int
) -> None:
    # Less than the default: in a table as small as this one, 5,000 rows are an eighth of all.
    monkeypatch.setattr(lists, "SCAN_MAX", SCANNED)
    rare = Message.objects.filter(page=long_page["page"], parent=None, status="published", reaction_total=3)
    of_page = rare.order_by("created_at").values_list("pk", flat=True)
    rare = rare.filter(pk__in=[of_page[number] for number in (0, 1_500, 3_000)])
    rare.update(tag_type="rare")
    query = {"pageId": long_page["page"], "tagType": "rare", "sort": sort, "limit": str(limit)}
    found, requests, cursor = [], 0, None
    while requests == 0 or cursor:
        url = f"{PATH}?{urlencode(query | ({'cursor': cursor} if cursor else {}))}"
        assert messages_read(url, LIST) <= SCANNED
        assert messages_read(url, END) <= SCANNED + 1
        answer = Api().get(url).json
        assert answer["hasMore"] == (answer["nextCursor"] is not None)
        found += [message["id"] for message in answer["messages"]]
        requests, cursor = requests + 1, answer["nextCursor"]
    assert requests == ceil(POSTS / SCANNED)
    ordered = {"newest": "-created_at", "oldest": "created_at", "reactions": "-created_at"}[sort]
    assert found == [str(pk) for pk in rare.order_by(ordered).values_list("pk", flat=True)]


def test_a_filter_that_few_replies_match_reads_a_bounded_number_of_rows(
    long_page: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists, "SCAN_MAX", 500)
    oldest = Message.objects.filter(parent=long_page["parent"], status="published").earliest("created_at")
    Message.objects.filter(pk=oldest.pk).update(tag_type="rare")
    url = f"{PATH}?pageId={long_page['page']}&parentId={long_page['parent']}&tagType=rare"
    assert messages_read(url) <= (500 + 1) + (500 + 1) + 1, "with the parent, twice"
    answer = Api().get(url).json
    assert answer["messages"] == []
    while answer["nextCursor"]:
        assert not answer["messages"]
        answer = Api().get(f"{url}&cursor={answer['nextCursor']}").json
    assert [message["id"] for message in answer["messages"]] == [str(oldest.pk)]


def test_the_number_of_statements_does_not_depend_on_the_size_of_a_list(django_assert_num_queries: Any) -> None:
    page = PageFactory()
    for _ in range(12):
        quoting = MessageFactory(page=page, quote=MessageFactory(page=page))
        reply = MessageFactory(parent=quoting)
    for query, statements in (("", 1), ("&includeTopReply=true", 2), ("&authorKind=human", 2)):
        for limit in (1, 5, 20, 100):
            with django_assert_num_queries(statements):
                response = Api().get(f"{PATH}?pageId={page.pk}&limit={limit}{query}")
            assert len(response.json["messages"]) == min(limit, 24)
    with django_assert_num_queries(1):
        assert Api().get(f"{PATH}/{reply.pk}").status == 200


def test_no_order_sorts_or_reads_a_long_page(long_page: dict[str, str]) -> None:
    page, parent = long_page["page"], long_page["parent"]
    for sort in ("newest", "oldest", "reactions"):
        of_page = f"{PATH}?pageId={page}&sort={sort}"
        deep = Api().get(PATH, pageId=page, sort=sort, limit=100)
        for _ in range(10):
            deep = Api().get(PATH, pageId=page, sort=sort, limit=100, cursor=deep.json["nextCursor"])
        assert deep.json["hasMore"]
        for url, rows in (
            (of_page, 11),
            (f"{of_page}&cursor={deep.json['nextCursor']}", 11),
            (f"{of_page}&parentId={parent}", 12),
            (f"{of_page}&limit=100", 101),
        ):
            assert messages_read(url) == rows
            # The window that adds up the sizes of a long list may sort its hundred rows, but no more.
            sorts = [node for plan in plans_of(url) for node in nodes(plan) if "Sort" in node["Node Type"]]
            assert all(node["Actual Rows"] <= 101 for node in sorts)


def test_what_a_community_shows_of_a_long_page_is_read_by_its_index(long_page: dict[str, str]) -> None:
    """Every second post is of the community; a stranger's are not read, in any order and at any depth."""
    embed = an_embed(community_id=UUID(long_page["community"]))
    for sort in ("newest", "oldest", "reactions"):
        of_page = f"{PATH}?pageId={long_page['page']}&sort={sort}&embedId={embed.pk}"
        deep = Api().get(f"{of_page}&limit=100")
        for _ in range(5):
            deep = Api().get(f"{of_page}&limit=100&cursor={deep.json['nextCursor']}")
        assert deep.json["hasMore"]
        for url in (of_page, f"{of_page}&cursor={deep.json['nextCursor']}"):
            assert messages_read(url) == 11
            plans = plans_of(url)
            used = {node.get("Index Name") for plan in plans for node in nodes(plan)}
            assert "shown_posts_by_reactions" in used if sort == "reactions" else "shown_posts" in used


def test_the_participants_of_a_long_page_cost_one_query_of_few_rows(
    long_page: dict[str, str], django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(1):
        assert Api().get("/v1/presence/participants", pageId=long_page["page"]).status == 200
    plan = generic_plan(statement_of(), {"page": long_page["page"]})
    assert rows_read(plan, "messaging_message") <= 2 * READ_MAX
