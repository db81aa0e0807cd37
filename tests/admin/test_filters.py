"""The filters of lists and their counts: few links of communities, and no date and no count reads the whole table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from django.utils.html import strip_tags
from pytest_django.plugin import DjangoDbBlocker

from agents.models import AgentRequest
from kernel.admin import changelists
from messaging.models import Account, Community, Message, MessageStatus
from messaging.moderation.lists import lists
from messaging.moderation.queries import BY_ITS_INDEX, WITH_WORDS, ids_of_unpublished
from reactions.models import Reaction
from tests.admin.many_posts import insert_posts
from tests.admin.pages import page, read
from tests.factories import CommunityFactory, MessageFactory
from tests.module_rows import undone_after_module
from tests.plans import generic_plan, indexes, nodes, plan_of, rows_read

pytestmark = pytest.mark.django_db
CHOSEN = "community__id__exact"
ROWS = 20_000
REACTIONS = """
INSERT INTO reactions_reaction (id, message_id, account_id, emoji, created_at)
SELECT uuidv7(created_at - now()), id, author_id, '👍', created_at FROM messaging_message
"""
# A post in a thousand is hidden, deleted or pending.
STATUS = "CASE n %% 1000 WHEN 0 THEN 'hidden' WHEN 1 THEN 'deleted' WHEN 2 THEN 'pending' ELSE 'published' END"
# One in a hundred is pending.
REQUESTS = """
INSERT INTO agents_agentrequest
    (id, requester_id, agent_name, agent_handle, purpose, website, scopes, community_ids, status, decided_by_id,
     decided_at, reason, created_at)
SELECT gen_random_uuid(), %(by)s, 'Many', 'many_' || n, 'x', '', '{post}', '{}',
    CASE WHEN n %% 100 = 0 THEN 'pending' ELSE 'rejected' END, CASE WHEN n %% 100 > 0 THEN %(by)s::uuid END,
    CASE WHEN n %% 100 > 0 THEN now() END, '', now()
FROM generate_series(1, 5000) n
"""
NAME = "words_of_unpublished"
DIVIDED = """
CREATE TABLE divided (LIKE messaging_message INCLUDING DEFAULTS) PARTITION BY RANGE (id);
CREATE TABLE divided_first PARTITION OF divided FOR VALUES FROM (MINVALUE) TO ('018f0000-0000-7000-8000-000000000000');
CREATE TABLE divided_rest PARTITION OF divided DEFAULT;
INSERT INTO divided SELECT * FROM messaging_message
"""
OF_PARTITIONS = """
SELECT indrelid::regclass::text, indisvalid FROM pg_index JOIN pg_inherits ON inhrelid = indexrelid
WHERE inhparent = to_regclass(%s) ORDER BY 1
"""


class TestCommunities:
    @pytest.fixture
    def communities(self) -> list[Community]:
        made = [Community(name=f"C {n:03}", slug=f"c-{n}", blocked_words=["word"]) for n in range(200)]
        return Community.objects.bulk_create(made)

    def linked(self, text: str) -> list[str]:
        (links,) = re.findall(r"<section><h2>Community</h2>.*?</section>", text, re.DOTALL)
        return re.findall(rf'href="\?[^"]*{CHOSEN}=([^"&]+)', links)

    def test_links_are_few_and_no_word_list_is_read(self, admin_client: Client, communities: list[Community]) -> None:
        first, last = communities[0], communities[-1]
        posts = [MessageFactory(community=community) for community in (first, last)]
        first_links = [str(community.pk) for community in communities[:50]]
        for query, links in (
            ({}, first_links),
            ({CHOSEN: str(first.pk)}, first_links),
            ({CHOSEN: str(last.pk)}, [*first_links, str(last.pk)]),
        ):
            with CaptureQueriesContext(connection) as captured:
                text = read(admin_client, Message, "changelist", **query)
            assert self.linked(text) == links
            assert not [sql["sql"] for sql in captured if "blocked_words" in sql["sql"]]
        assert posts[1].content in text
        assert posts[0].content not in text
        assert re.search(rf'<a href="[^"]*{last.pk}[^"]*" aria-current="true">', text)

    def test_a_post_reached_from_a_filtered_list_reads_no_word_list(
        self, admin_client: Client, communities: list[Community]
    ) -> None:
        post = MessageFactory(community=communities[-1], status="pending")
        with CaptureQueriesContext(connection) as captured:
            read(admin_client, post, _changelist_filters=f"{CHOSEN}={post.community_id}")
        assert not [sql["sql"] for sql in captured if "blocked_words" in sql["sql"]]

    def test_the_page_of_a_community_links_to_its_posts_and_an_unknown_id_to_none(self, admin_client: Client) -> None:
        post = MessageFactory(community=CommunityFactory())
        assert f"{page(Message, 'changelist')}?{CHOSEN}={post.community_id}" in read(admin_client, post.community)
        for value, is_shown in ((post.community_id, True), (uuid4(), False)):
            assert (post.content in read(admin_client, Message, "changelist", **{CHOSEN: str(value)})) == is_shown


@pytest.mark.parametrize(
    ("name", "values"),
    [(CHOSEN, ["", "nonsense", "9" * 5_000, "-1"]), ("created_at__gte", ["nonsense", "", "9999-99-99"])],
)
def test_an_invalid_value_leads_back_to_the_list(admin_client: Client, name: str, values: list[str]) -> None:
    CommunityFactory()
    for value in values:
        response = admin_client.get(page(Message, "changelist"), {name: value})
        assert (response.status_code, response.headers["Location"]) == (302, f"{page(Message, 'changelist')}?e=1")


@pytest.fixture(scope="class")
def _many_rows(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    with undone_after_module(django_db_blocker), connection.cursor() as cursor:
        age = "n * interval '1 hour'"
        insert_posts(ROWS, beside=MessageFactory(), id=f"uuidv7(-{age})", created_at=f"now() - {age}")
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(REACTIONS)
        cursor.execute("SET LOCAL session_replication_role = DEFAULT")
        cursor.execute("ANALYZE reactions_reaction")
        yield


@pytest.mark.usefixtures("_many_rows")
class TestManyRows:
    """A list reads few of many posts, which are an hour apart and have a reaction each."""

    def rows_read(self, admin_client: Client, path: str, table: str) -> list[int]:
        """Count for each statement of a page that reads the table in the order of the list, or by time."""
        with CaptureQueriesContext(connection) as captured:
            response = admin_client.get(path)
            assert response.status_code == 200
            b"".join(response.streaming_content) if response.streaming else None  # type: ignore[attr-defined]
        read = [sql["sql"] for sql in captured if f'FROM "{table}"' in sql["sql"]]
        listing = [sql for sql in read if "created_at" in sql.partition("WHERE")[2] or "ORDER BY" in sql]
        assert listing
        return [rows_read(plan_of(sql), table) for sql in listing]

    @pytest.mark.parametrize("days", [0, 7])
    def test_a_date_reads_no_older_rows(self, admin_client: Client, days: int) -> None:
        """The CSV, which is in ascending order, reads none either."""
        today = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
        since = today - timedelta(days=days)
        query = urlencode({"created_at__gte": str(since), "created_at__lt": str(today + timedelta(days=1))})
        posts = page(Message, "changelist")
        for path, table in (
            (f"{posts}?{query}", "messaging_message"),
            (f"{posts}csv/?{query}", "messaging_message"),
            (f"{page(Reaction, 'changelist')}?{query}", "reactions_reaction"),
        ):
            assert max(self.rows_read(admin_client, path, table)) < ROWS / 50, path

    @pytest.mark.parametrize("column", range(1, 9))
    def test_no_order_reads_the_whole_table(self, admin_client: Client, column: int) -> None:
        posts, reactions = (Message, "messaging_message"), (Reaction, "reactions_reaction")
        for direction, (model, table) in (("", posts), ("-", posts), ("", reactions)):
            path = f"{page(model, 'changelist')}?o={direction}{column}"
            assert max(self.rows_read(admin_client, path, table)) < ROWS / 50, path


class TestDates:
    def test_only_the_age_is_sortable(self, admin_client: Client) -> None:
        newer = [MessageFactory(), MessageFactory()]
        shown = admin_client.get(page(Message, "changelist"), {"o": "7"}).context["cl"]
        assert list(shown.result_list) == newer
        text = read(admin_client, Message, "changelist")
        assert re.findall(r'<th scope="col" class="[^"]*sortable column-(\w+)', text) == ["posted"]

    def test_a_row_is_found_by_its_time(self, admin_client: Client) -> None:
        """The time of an imported post may be earlier than that of its id; clocks of hosts may be behind."""
        now = timezone.now()
        ages = {"of now": timedelta(), "of an import": timedelta(days=40), "ahead of its id": -timedelta(hours=20)}
        for content, age in ages.items():
            Message.objects.filter(pk=MessageFactory(content=content).pk).update(created_at=now - age)
        for since, found in (
            (now - timedelta(hours=1), {"of now", "ahead of its id"}),
            (now + timedelta(hours=19), {"ahead of its id"}),
            (now - timedelta(days=41), set(ages)),
        ):
            assert self.found(admin_client, created_at__gte=str(since)) == found
        assert self.found(admin_client, created_at__lt=str(now - timedelta(days=1))) == {"of an import"}

        # No id has such a time, which is no bound then.
        for since in ("1969-01-01T00:00Z", "0001-01-01T00:00+14:00"):
            assert self.found(admin_client, created_at__gte=since) == set(ages)

    def found(self, admin_client: Client, **query: Any) -> set[str]:
        response = admin_client.get(page(Message, "changelist"), query)
        assert response.status_code == 200
        return {row.content for row in response.context["cl"].result_list}


def test_each_status_has_a_bounded_count(admin_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changelists, "COUNTED_MAX", 2)
    for status, count in (("published", 3), ("pending", 2), ("hidden", 1)):
        MessageFactory.create_batch(count, status=status)
    shown = strip_tags(read(admin_client, Message, "changelist"))
    assert all(text in shown for text in ("Published (2+)", "Pending (2)", "Hidden (1)", "Deleted (0)"))


# Partial indexes: each has the posts of some statuses alone.
OF_RARE_STATUSES = {
    *("rare_statuses", "moderation_queue", "community_queue", "queue_of_page", "unpublished_of_author"),
}


def test_no_count_reads_the_whole_table(boss: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rare statuses are found by an index; the count of the frequent one ends at its bound."""
    monkeypatch.setattr(changelists, "COUNTED_MAX", 100)
    insert_posts(ROWS, beside=MessageFactory(), status=STATUS)
    for status in MessageStatus:
        with CaptureQueriesContext(connection) as captured:
            changelists.bounded_count(Message.objects.filter(status=status))
        plan = plan_of(captured[0]["sql"])
        assert rows_read(plan, "messaging_message") < ROWS / 50, (status, plan)
        is_rare = status != MessageStatus.PUBLISHED
        assert bool(OF_RARE_STATUSES & indexes(plan)) == is_rare, [*nodes(plan)]


def test_the_counts_of_requests_use_the_index_of_their_status(boss: Account) -> None:
    with connection.cursor() as cursor:
        cursor.execute(REQUESTS, {"by": boss.pk})
        cursor.execute("ANALYZE agents_agentrequest")
    with CaptureQueriesContext(connection) as captured:
        assert changelists.bounded_count(AgentRequest.objects.filter(status="pending")) == "50"
    plan = plan_of(captured[0]["sql"])
    assert rows_read(plan, "agents_agentrequest") <= 50, plan


def sql(statement: str, values: Any = None) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall()) if cursor.description else []


@pytest.mark.django_db
@pytest.mark.parametrize("status", ["pending", "hidden"])
def test_the_admin_finds_old_posts_that_are_not_public_by_their_words(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch, status: str
) -> None:
    monkeypatch.setattr(lists, "NEWEST_MAX", 1)
    post = MessageFactory(content="The Café, by the pier", payload={"note": "with a lantern"}, status=status)
    for words in ("a pier", "lighthouse"):
        MessageFactory(content=words, status="deleted")
    listed = reverse("admin:messaging_message_changelist")
    for query in ("CAFE pier", '"by the pier"', "lantern", "pier -lighthouse"):
        found = admin_client.get(listed, {"q": query}).context["cl"].result_list
        assert list(found) == [post], query
    assert list(admin_client.get(listed, {"q": "lighthouse keeper"}).context["cl"].result_list) == []


@pytest.mark.django_db
def test_a_search_reads_by_the_index_alone_and_no_more_than_its_limit() -> None:
    insert_posts(
        5_000,
        beside=MessageFactory(),
        status="CASE n %% 10 WHEN 0 THEN 'hidden' WHEN 1 THEN 'pending' ELSE 'published' END",
        content="CASE n WHEN 10 THEN 'A rare lighthouse' ELSE 'common' END",
    )
    assert len(ids_of_unpublished("lighthouse", limit=100)) == 1
    assert len(ids_of_unpublished("common", limit=100)) == 100
    assert sql("SHOW enable_seqscan") == [("on",)]
    sql(BY_ITS_INDEX)
    for text, number in (("lighthouse", 1), ("common", 100)):
        plan = generic_plan(WITH_WORDS, {"text": text, "limit": 100})
        assert indexes(plan) == {NAME}, plan
        assert rows_read(plan, "messaging_message") == number


@pytest.mark.django_db(transaction=True)
def test_the_index_is_built_in_each_partition(monkeypatch: pytest.MonkeyPatch) -> None:
    MessageFactory(content="Under review", status=MessageStatus.PENDING)
    (index,) = (index for index in Message._meta.indexes if index.name == NAME)
    index = index.clone()
    index.name = "words_of_divided"

    sql(DIVIDED)
    monkeypatch.setattr(Message._meta, "db_table", "divided")
    try:
        with connection.schema_editor(atomic=False) as editor:
            editor.add_index(Message, index, concurrently=True)
        assert sql(OF_PARTITIONS, [index.name]) == [("divided_first", True), ("divided_rest", True)]
    finally:
        monkeypatch.undo()
        sql("DROP TABLE divided")
