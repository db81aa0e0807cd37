"""A post with 30,000 reactions: reads and writes access as few blocks as with ten."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from pytest_django.plugin import DjangoDbBlocker

from kernel.api.ids import new_id
from messaging.models import Account, Message
from reactions import queries
from tests.api import Api
from tests.emptying import empty_tables
from tests.factories import MessageFactory, PersonFactory, SuperAdminFactory
from tests.plans import generic_plan, indexes, nodes
from tests.reactions.counts import counted

MANY = 30_000
# The maximum number of blocks (8 KiB) per statement. A scan of the table reads over three hundred.
BLOCKS_MAX = 150

ACCOUNTS = """
INSERT INTO messaging_account (id, password, is_superuser, kind, handle, name, is_active, is_staff, created_at)
SELECT gen_random_uuid(), '', false, 'human', 'crowd_' || n, 'One of many', true, false, now()
FROM generate_series(1, %s) n
"""
REACTIONS = """
INSERT INTO reactions_reaction (id, message_id, account_id, emoji, created_at)
SELECT gen_random_uuid(), %s, id, (ARRAY['👍', '❤️', '🎉', '👀'])[1 + row_number() OVER () %% 4],
    now() - make_interval(secs => row_number() OVER ())
FROM messaging_account WHERE handle LIKE 'crowd\\_%%'
"""
COUNTS = """
UPDATE messaging_message SET reaction_total = %s, reaction_counts = (
    SELECT jsonb_object_agg(emoji, n) FROM (
        SELECT emoji, count(*) AS n FROM reactions_reaction WHERE message_id = %s GROUP BY emoji
    ) counted
) WHERE id = %s
"""
# The statistics of a production table, where most posts and most accounts have one reaction. A generic plan, which does
# not depend on the values, must be efficient for a viral post too.
SET_N_DISTINCT = """
ALTER TABLE reactions_reaction ALTER message_id SET (n_distinct = -1), ALTER account_id SET (n_distinct = -1)
"""
RESET_N_DISTINCT = """
ALTER TABLE reactions_reaction ALTER message_id RESET (n_distinct), ALTER account_id RESET (n_distinct)
"""


@pytest.fixture(scope="module")
def post(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Message]:
    """A viral post, loaded once per module and deleted after it."""
    with django_db_blocker.unblock():
        message: Message = MessageFactory()
        with connection.cursor() as cursor:
            cursor.execute("SET statement_timeout = 0")
            cursor.execute(ACCOUNTS, [MANY])
            cursor.execute(REACTIONS, [message.pk])
            cursor.execute(COUNTS, [MANY, message.pk, message.pk])
            cursor.execute(SET_N_DISTINCT)
            cursor.execute("VACUUM ANALYZE reactions_reaction, messaging_account, messaging_message")
    yield message
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(RESET_N_DISTINCT)
        cursor.execute("RESET statement_timeout")
        # Also of what refers to the post without a foreign key, such as the counts of its page.
        empty_tables()


pytestmark = pytest.mark.django_db


def explain(statement: str, values: dict[str, Any]) -> dict[str, Any]:
    """Execute the generic plan and return it; fails on a sequential scan of a large table."""
    plan = generic_plan(statement, values)
    big = {"reactions_reaction", "messaging_account"}
    scanned = [node for node in nodes(plan) if node["Node Type"] == "Seq Scan" and node["Relation Name"] in big]
    assert not scanned
    assert 0 < plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] < BLOCKS_MAX, plan
    return plan


@pytest.mark.parametrize("has_statistics", [True, False], ids=["set statistics", "analyzed statistics"])
def test_list_reads_the_index(post: Message, has_statistics: bool) -> None:
    if not has_statistics:
        with connection.cursor() as cursor:
            cursor.execute(RESET_N_DISTINCT)
            cursor.execute("ANALYZE reactions_reaction")
    first = explain(queries.list_statement(11, is_first=True), {"message": post.pk})
    assert "reactions_of_post" in indexes(first)
    deep = post.reactions.order_by("created_at")[MANY // 2]  # type: ignore[attr-defined]
    after = {"message": post.pk, "created_at": deep.created_at, "id": deep.pk}
    assert "reactions_of_post" in indexes(explain(queries.list_statement(11, is_first=False), after))


def test_writes_access_few_blocks(post: Message) -> None:
    account = PersonFactory()
    values = {"message": post.pk, "account": account.pk, "emoji": "👍", "banned_with": [account.pk]}
    # Both have the account and the post, and cost the same.
    assert indexes(explain(queries.STATE, values)) & {"one_reaction_per_account", "reactions_by_post"}
    reaction_id = new_id()
    explain(queries.ADD, values | {"reaction": reaction_id})
    explain(queries.OWNED, {"reaction": reaction_id})
    explain(queries.REPLACE, {**values, "emoji": "🎉", "current": "👍", "reaction": reaction_id})
    explain(queries.REMOVE, {**values, "current": "🎉", "reaction": reaction_id})
    counted(post)


def test_number_of_queries_does_not_depend_on_the_reactions(post: Message, django_assert_num_queries: Any) -> None:
    api = Api.as_person(PersonFactory())
    with django_assert_num_queries(1):
        listed = Api().get(f"/v1/reactions/{post.pk}", limit=100).json
    assert (listed["total"], len(listed["reactions"]), listed["hasMore"]) == (MANY, 100, True)
    with django_assert_num_queries(1):
        shown = Api().get("/api/messages", pageId=post.page_id).json["messages"]
    assert [message["reactionTotal"] for message in shown] == [MANY]
    with django_assert_num_queries(7):
        added = api.post("/v1/reactions", {"messageId": str(post.pk), "emoji": "👍"}).json
    assert (added["count"], added["total"]) == (MANY // 4 + 1, MANY + 1)
    with django_assert_num_queries(7):
        assert api.delete(f"/v1/reactions/{added['reactionId']}").json["total"] == MANY


def test_admin_list_uses_the_bounded_count(post: Message, client: Any) -> None:
    client.force_login(SuperAdminFactory())
    assert Account.objects.count() > MANY
    response = client.get("/admin/reactions/reaction/")
    assert response.status_code == 200
    assert response.context["cl"].result_count == 10_001
