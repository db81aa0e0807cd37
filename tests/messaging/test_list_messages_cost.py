"""The cost of lists: a constant number of queries, each by an index, on a page with tens of thousands of posts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import ceil
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from messaging.models import Message
from messaging.queries import message_lists
from tests.api import Api
from tests.factories import AgentAccountFactory, CommunityFactory, MessageFactory, PageFactory, PersonFactory

PATH = "/api/messages"
POSTS, REPLIES, OTHERS = 40_000, 5_000, 5_000
SCANNED = 2_000
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


@pytest.fixture
def long_page(db: None) -> dict[str, str]:
    return load_long_page()


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
    plans = []
    with connection.cursor() as cursor:
        for query in captured:
            cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {query['sql']}")
            output = cursor.fetchone()[0]
            plans.append((output if isinstance(output, list) else json.loads(output))[0]["Plan"])
    return plans


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for inner in plan.get("Plans", ()):
        yield from nodes(inner)


def messages_read(url: str, statements: slice = slice(None)) -> int:
    """The number of message rows that the statements of a request read; fails if one does not use an index."""
    total = 0
    for plan in plans_of(url)[statements]:
        for node in nodes(plan):
            if node.get("Relation Name") == "messaging_message":
                assert node["Node Type"] in {"Index Scan", "Index Only Scan"}, node
                rows = node["Actual Rows"] + node.get("Rows Removed by Filter", 0)
                total += round(rows * node["Actual Loops"])
    return total


@pytest.mark.django_db
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


@pytest.mark.django_db
@pytest.mark.parametrize(("sort", "limit"), [("newest", 10), ("oldest", 10), ("reactions", 100)])
def test_a_filter_that_few_posts_match_reads_a_bounded_number_of_rows(
    long_page: dict[str, str], monkeypatch: pytest.MonkeyPatch, sort: str, limit: int
) -> None:
    # Less than the default: in a table as small as this one, 5,000 rows are an eighth of all.
    monkeypatch.setattr(message_lists, "SCAN_MAX", SCANNED)
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


@pytest.mark.django_db
def test_a_filter_that_few_replies_match_reads_a_bounded_number_of_rows(
    long_page: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(message_lists, "SCAN_MAX", 500)
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


@pytest.mark.django_db
@pytest.mark.parametrize(("query", "statements"), [("", 1), ("&includeTopReply=true", 2), ("&authorKind=human", 2)])
def test_the_number_of_statements_does_not_depend_on_the_size_of_a_list(
    query: str, statements: int, django_assert_num_queries: Any
) -> None:
    page = PageFactory()
    for _ in range(12):
        target = MessageFactory(page=page)
        quoting = MessageFactory(page=page, quote=target)
        MessageFactory(parent=quoting)
    for limit in (1, 5, 20, 100):
        with django_assert_num_queries(statements):
            response = Api().get(f"{PATH}?pageId={page.pk}&limit={limit}{query}")
        assert len(response.json["messages"]) == min(limit, 24)


@pytest.mark.django_db
def test_get_message_runs_one_statement(django_assert_num_queries: Any) -> None:
    reply = MessageFactory(parent=MessageFactory(), quote=MessageFactory())
    with django_assert_num_queries(1):
        assert Api().get(f"{PATH}/{reply.pk}").status == 200
