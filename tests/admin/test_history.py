"""The history of a row is read by an index, however many entries are about others."""

from __future__ import annotations

import re

import pytest
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from config.admin.audit import entries_about, log_decision, log_entries_about
from desk.records import decisions
from messaging.models import Account, Message
from tests.admin.every_page import session_of
from tests.factories import MessageFactory
from tests.plans import generic_plan, indexes, rows_read

pytestmark = pytest.mark.django_db
TABLE = "django_admin_log"
MANY = f"""
INSERT INTO {TABLE} (action_time, user_id, content_type_id, object_id, object_repr, action_flag, change_message)
SELECT now(), %s, %s, gen_random_uuid()::text, 'A post', 2, 'Hidden.' FROM generate_series(1, 20000)
"""


@pytest.fixture
def post(boss: Account) -> Message:
    found: Message = MessageFactory()
    with connection.cursor() as cursor:
        cursor.execute(MANY, [boss.pk, ContentType.objects.get_for_model(Message).pk])
        cursor.execute(f"ANALYZE {TABLE}")
    for verb in ("Hidden", "Restored", "Hidden"):
        log_decision(by=boss, about=found, verb=verb)
    return found


def test_the_decisions_about_a_post_are_read_by_an_index(post: Message) -> None:
    with CaptureQueriesContext(connection) as queries:
        entries = log_entries_about([post], latest=2)
    assert [entry.change_message for entry in entries] == ["Hidden.", "Restored."]
    plan = generic_plan(queries[-1]["sql"], {})
    assert rows_read(plan, TABLE) <= 10
    assert "log_entries_about" in indexes(plan)


def test_an_erasure_reads_the_entries_about_its_posts_alone(post: Message) -> None:
    with CaptureQueriesContext(connection) as queries:
        assert len(entries_about(Message, [post.pk, *(other.pk for other in MessageFactory.create_batch(5))])) == 3
    assert rows_read(generic_plan(queries[-1]["sql"], {}), TABLE) <= 10


def test_a_record_reads_the_entries_about_the_account_and_its_posts_alone(post: Message, boss: Account) -> None:
    log_decision(by=boss, about=post.author, verb="Suspended")
    with CaptureQueriesContext(connection) as queries:
        (section,) = decisions(post.author_id)
        records = list(section.records)
        assert section.count == section.count_up_to(10) == len(records) == 4
    read = [query["sql"] for query in queries if f'FROM "{TABLE}"' in query["sql"]]
    assert len(read) >= 3
    assert max(rows_read(generic_plan(statement, {}), TABLE) for statement in read) <= 20


def test_the_filter_of_the_log_offers_the_kinds_of_its_entries_and_reads_one_of_each(
    post: Message, boss: Account
) -> None:
    log_decision(by=boss, about=post.author, verb="Suspended")
    with CaptureQueriesContext(connection) as queries:
        shown = session_of(boss).get("/admin/admin/logentry/").content.decode()
    offered = re.findall(r"content_type__id__exact=(\d+)", shown)
    kinds = [ContentType.objects.get_for_model(model).pk for model in (Account, Message)]
    assert set(map(int, offered)) == set(kinds)
    (choices,) = (query["sql"] for query in queries if "LIMIT 1)" in query["sql"])
    assert rows_read(generic_plan(choices, {}), TABLE) == len(kinds)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_migration_of_the_index_is_reversible() -> None:
    try:
        call_command("migrate", "messaging", "0035", verbosity=0)
        assert "log_entries_about" not in indexes_of_history()
    finally:
        call_command("migrate", verbosity=0)
    assert "log_entries_about" in indexes_of_history()


def indexes_of_history() -> set[str]:
    with connection.cursor() as cursor:
        return set(connection.introspection.get_constraints(cursor, TABLE))
