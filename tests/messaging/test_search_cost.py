"""The cost of a search among tens of thousands of posts, for common and for rare words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from pytest_django.plugin import DjangoDbBlocker

from messaging.search import queries as search
from tests import plans
from tests.api import Api
from tests.factories import MessageFactory, PageFactory
from tests.messaging.test_list_messages_cost import OTHERS, POSTS, REPLIES, load_long_page
from tests.module_rows import undone_after_module
from tests.plans import generic_plan, indexes, rows_read

pytestmark = pytest.mark.django_db
# The rows were loaded without triggers.
ENTRIES = """
INSERT INTO messaging_searchentry (message_id, page_id, community_id, created_at, words)
SELECT id, page_id, community_id, created_at, messaging_search_words(
    content || CASE WHEN substr(id::text, 30)::int %% 5000 = 7 THEN ' rare 天' ELSE '' END, payload
)
FROM messaging_message WHERE status = 'published'
"""


@pytest.fixture(scope="module")
def entries(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[dict[str, str]]:
    with undone_after_module(django_db_blocker):
        ids = load_long_page()
        with connection.cursor() as cursor:
            cursor.execute(ENTRIES, [])
            # As in production, where most pages and communities have a small part of the posts.
            for column in ("page_id", "community_id"):
                cursor.execute(f"ALTER TABLE messaging_searchentry ALTER {column} SET (n_distinct = -0.01)")
            cursor.execute("ANALYZE messaging_searchentry")
        yield ids


def plan_of(matches: str, query: str, **scope: Any) -> dict[str, Any]:
    """The generic plan of the second statement of a search."""
    matching = search.Scope(scope).applied_to(matches)
    statement = search.RANKED.format(matches=matching, after="true", limit=11)
    return generic_plan(statement, {"query": query, "any": query, **scope})


def entries_of(plan: dict[str, Any]) -> int:
    return rows_read(plan, "messaging_searchentry")


def test_a_search_takes_a_constant_number_of_queries(entries: dict[str, str], django_assert_num_queries: Any) -> None:
    # Two or three queries, and four about the transaction that sets what the plans may do: here, a savepoint.
    for query, queries in (("q=post", 7), ("q=rare", 7), ("q=absent", 6), ("q=%21%21", 5)):
        for limit in (1, 100):
            with django_assert_num_queries(queries):
                assert Api().get(f"/v1/search?{query}&limit={limit}").status == 200


SCOPES = [{}, {"page_id": "page"}, {"community_id": "community"}]


@pytest.mark.parametrize("scope", SCOPES)
def test_a_common_word_is_found_among_the_newest_posts_after_a_sample(
    entries: dict[str, str], scope: dict[str, str]
) -> None:
    """Also if PostgreSQL expects a single post in any scope."""
    values = {name: entries[of] for name, of in scope.items()}
    sampled = search.Scope(scope).applied_to(search.SAMPLED)
    for n_distinct in (-0.01, -1):
        with connection.cursor() as cursor:
            for column in scope:
                cursor.execute(f"ALTER TABLE messaging_searchentry ALTER {column} SET (n_distinct = {n_distinct})")
            cursor.execute("ANALYZE messaging_searchentry")
        assert entries_of(generic_plan(sampled, {"text": "post", **values})) <= search.SAMPLE
        with transaction.atomic(), connection.cursor() as cursor:
            if scope:
                cursor.execute(search.READ_IN_ORDER)
            assert entries_of(plan_of(search.OF_COMMON_WORDS, "'post'", **values)) <= search.MATCHES_MAX
            assert entries_of(generic_plan(sampled, {"text": "post", **values})) <= search.SAMPLE


def test_a_word_in_a_small_scope_reads_no_post_of_others(entries: dict[str, str]) -> None:
    """A word that is rare or absent there may be common elsewhere, where the index of words would find it."""
    small = MessageFactory(content="Alone")
    with CaptureQueriesContext(connection) as captured:
        found = [Api().get("/v1/search", q=q, pageId=small.page_id).json["messages"] for q in ("post", "alone")]
    assert [len(messages) for messages in found] == [0, 1]
    statements = [query["sql"] for query in captured if "ts_rank" in query["sql"]]
    assert len(statements) == 2
    assert all(f"LIMIT {search.READ_MAX}" in statement for statement in statements)


def test_the_settings_of_the_plans_end_with_the_search(entries: dict[str, str]) -> None:
    for q in ("post", "rare", "!!"):
        Api().get("/v1/search", q=q)
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('enable_bitmapscan'), current_setting('enable_sort')")
        assert cursor.fetchone() == ("on", "on")


def test_a_rare_word_is_found_by_the_index(entries: dict[str, str]) -> None:
    matches = (POSTS + REPLIES + OTHERS) // 5000
    assert len(Api().get("/v1/search", q="rare", limit=100).json["messages"]) == matches
    # In a table of ten million posts, an index in the order of time seems cheaper than a sort.
    for sort in ("on", "off"):
        with connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL enable_sort = {sort}")
        plan = plan_of(search.OF_RARE_WORDS, "'rare'")
        assert "search_words" in indexes(plan)
        assert entries_of(plan) == matches


def test_a_rare_word_in_a_scope_reads_no_more_rows_than_the_scope_has(entries: dict[str, str]) -> None:
    for scope, rows_max in (({"page_id": entries["other"]}, OTHERS), ({"community_id": entries["community"]}, 30_000)):
        assert entries_of(plan_of(search.OF_RARE_WORDS, "'rare'", **scope)) <= rows_max


BY_INDEX = ["rare", "天", "rare -post", '"post rare"', "absent"]
IN_ORDER = ["post", "-post", "-rare", "post or rare", '"post post"', "post -post", 'post -"post post"']


def test_the_index_is_used_for_rare_words_that_must_occur(entries: dict[str, str]) -> None:
    for q in BY_INDEX + IN_ORDER:
        with CaptureQueriesContext(connection) as captured:
            assert Api().get("/v1/search", q=q).status == 200
        (ranking,) = (query for query in captured if "ts_rank" in query["sql"])
        # The other way reads a limited number of posts.
        assert (f"LIMIT {search.READ_MAX}" in ranking["sql"]) == (q in IN_ORDER), q


@pytest.mark.parametrize(("first", "last"), [("", ""), ('"', '"'), ("-absent ", "")])
def test_long_posts_that_repeat_all_words_cost_no_more_than_with_alternatives(first: str, last: str) -> None:
    """PostgreSQL compares the places of each pair of words that must occur: each of the eight is there 254 times."""
    words, page = ["ak", "al", "am", "an", "bk", "bl", "bm", "bn"], PageFactory()
    for _ in range(20):
        MessageFactory(page=page, content=f"{' '.join(words)} " * 254)

    def cost(q: str) -> float:
        with CaptureQueriesContext(connection) as captured:
            assert len(Api().get("/v1/search", q=q, pageId=page.pk, limit=1).json["messages"]) == 1
        (ranking,) = (query["sql"] for query in captured if "ts_rank" in query["sql"])
        return min(float(plans.plan_of(ranking)["Actual Total Time"]) for _ in range(3))

    assert cost(first + " ".join(words) + last) < 20 * cost(" or ".join(words))
