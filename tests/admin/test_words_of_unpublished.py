"""The words of pending and hidden posts: found by an index, in one table and in partitions."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from messaging.admin import searching
from messaging.models import Message, MessageStatus
from messaging.queries.unpublished import BY_ITS_INDEX, WITH_WORDS, ids_of_unpublished
from tests.factories import MessageFactory
from tests.plans import generic_plan, indexes, rows_read

NAME = "words_of_unpublished"
MANY = """
INSERT INTO messaging_message
    (id, page_id, author_id, author_kind, status, content, attachments, reply_count, quote_count, reaction_counts,
     reaction_total, created_at, updated_at)
SELECT lpad(to_hex(n), 32, '0')::uuid, %(page)s, %(author)s, 'human',
    CASE n %% 10 WHEN 0 THEN 'hidden' WHEN 1 THEN 'pending' ELSE 'published' END,
    CASE n WHEN 10 THEN 'A rare lighthouse' ELSE 'common' END, '[]', 0, 0, '{}', 0, now(), now()
FROM generate_series(1, 5000) n
"""
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


def sql(statement: str, values: Any = None) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall()) if cursor.description else []


@pytest.mark.django_db
@pytest.mark.parametrize("status", ["pending", "hidden"])
def test_the_admin_finds_old_posts_that_are_not_public_by_their_words(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch, status: str
) -> None:
    monkeypatch.setattr(searching, "NEWEST_MAX", 1)
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
    post = MessageFactory()
    sql("SET LOCAL session_replication_role = replica")
    sql(MANY, {"page": post.page_id, "author": post.author_id})
    sql("SET LOCAL session_replication_role = DEFAULT")
    sql("ANALYZE messaging_message")
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
