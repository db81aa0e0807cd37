"""The history of a row is read by an index, and forgets the words of posts that were deleted, edited or left."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from importlib import import_module
from types import SimpleNamespace

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django.plugin import DjangoDbBlocker

from desk.records import decisions
from kernel.admin.audit import entries_about, log_decision, log_entries_about
from kernel.jobs.queue import run_due
from messaging.models import Account, Message, PostsChoice
from messaging.moderation.services import approve_message
from messaging.privacy.erasing import request_erasure
from tests.admin.bystanders import Unchanged
from tests.admin.every_page import session_of
from tests.admin.pages import read
from tests.api import Api
from tests.factories import MessageFactory, SuperAdminFactory
from tests.module_rows import undone_after_module
from tests.plans import generic_plan, indexes, rows_read

pytestmark = pytest.mark.django_db
TABLE = "django_admin_log"
MANY = f"""
INSERT INTO {TABLE} (action_time, user_id, content_type_id, object_id, object_repr, action_flag, change_message)
SELECT now(), %s, %s, gen_random_uuid()::text, 'A post', 2, 'Hidden.' FROM generate_series(1, 20000)
"""
MIGRATION = import_module("messaging.migrations.0040_texts_of_deleted_posts")
TEXT = "Unwise words"
DECISION = "Approved (pending → published): Fine."


@pytest.fixture(scope="class")
def _many(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    with undone_after_module(django_db_blocker), connection.cursor() as cursor:
        cursor.execute(MANY, [SuperAdminFactory().pk, ContentType.objects.get_for_model(Message).pk])
        cursor.execute(f"ANALYZE {TABLE}")
        yield


@pytest.fixture
def post(_many: None, boss: Account) -> Message:
    found: Message = MessageFactory()
    for verb in ("Hidden", "Restored", "Hidden"):
        log_decision(by=boss, about=found, verb=verb)
    return found


class TestOfManyEntries:
    def test_the_decisions_about_a_post_are_read_by_an_index(self, post: Message) -> None:
        with CaptureQueriesContext(connection) as queries:
            entries = log_entries_about([post], latest=2)
        assert [entry.change_message for entry in entries] == ["Hidden.", "Restored."]
        plan = generic_plan(queries[-1]["sql"], {})
        assert rows_read(plan, TABLE) <= 10
        assert "log_entries_about" in indexes(plan)

    def test_an_erasure_reads_the_entries_about_its_posts_alone(self, post: Message) -> None:
        with CaptureQueriesContext(connection) as queries:
            assert len(entries_about(Message, [post.pk, *(other.pk for other in MessageFactory.create_batch(5))])) == 3
        assert rows_read(generic_plan(queries[-1]["sql"], {}), TABLE) <= 10

    def test_a_record_reads_the_entries_about_the_account_and_its_posts_alone(
        self, post: Message, boss: Account
    ) -> None:
        log_decision(by=boss, about=post.author, verb="Suspended")
        with CaptureQueriesContext(connection) as queries:
            (section,) = decisions(post.author_id)
            records = list(section.records)
            assert section.count == section.count_up_to(10) == len(records) == 4
        read = [query["sql"] for query in queries if f'FROM "{TABLE}"' in query["sql"]]
        assert len(read) >= 3
        assert max(rows_read(generic_plan(statement, {}), TABLE) for statement in read) <= 20

    def test_the_filter_of_the_log_offers_the_kinds_of_its_entries_and_reads_one_of_each(
        self, post: Message, boss: Account
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


@pytest.fixture
def approved(boss: Account, unchanged: Unchanged) -> Message:
    """A post that a super admin has approved."""
    found: Message = MessageFactory(content=TEXT, status="pending")
    approve_message(message_id=found.pk, by=boss, reason="Fine.")
    log_decision(by=boss, about=MessageFactory(content="Other words"), verb="Looked at")
    unchanged(LogEntry.objects.latest("pk"))
    assert names_and_decisions(found) == [(TEXT, DECISION)]
    return found


def names_and_decisions(approved: Message) -> list[tuple[str, str]]:
    return list(entries_about(Message, [approved.pk]).values_list("object_repr", "change_message"))


def test_a_deletion_removes_the_text_and_leaves_the_reason(approved: Message, admin_client: Client) -> None:
    assert Api.as_person(approved.author).delete(f"/api/messages/{approved.pk}").status == 200
    assert names_and_decisions(approved) == [("", DECISION)]
    assert TEXT not in read(admin_client, LogEntry, "changelist", q="Unwise")
    other = read(admin_client, LogEntry, "changelist", q="words")
    assert ("Other words" in other, "Looked at" in other) == (True, True)


def test_an_edit_removes_the_text_if_it_changes_it(approved: Message) -> None:
    for content, name in ((TEXT, TEXT), ("Wise", "")):
        assert Api.as_person(approved.author).put(f"/api/messages/{approved.pk}", {"content": content}).status == 200
        assert names_and_decisions(approved) == [(name, DECISION)]


def test_an_erasure_that_leaves_the_posts_removes_texts_and_reasons(approved: Message) -> None:
    """Posts that a release without this rule has deleted are among them."""
    log_decision(by=SuperAdminFactory(), about=approved, verb="Hidden", reason="Rude.")
    Message.objects.filter(pk=approved.pk).update(status="deleted", content="")
    request_erasure(person=approved.author, posts=PostsChoice.ANONYMOUS, by=approved.author, wait=timedelta())
    assert run_due("erasures") == 1
    assert sorted(names_and_decisions(approved)) == [("", "Approved (pending → published)"), ("", "Hidden")]


def test_the_migration_removes_the_texts_of_posts_that_are_deleted_edited_or_gone(
    boss: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MIGRATION, "BATCH", MIGRATION.BATCH.replace("LIMIT 2000", "LIMIT 1"))
    posts = ["published", "edited", "deleted", "erased", "gone"]
    rows = {name: MessageFactory(content=f"Of {name}") for name in posts}
    for row in rows.values():
        log_decision(by=boss, about=row, verb="Looked at", reason="Odd.")
    log_decision(by=boss, about=boss, verb="Looked at")
    changed = {
        "edited": {"edited_at": timezone.now()},
        "deleted": {"status": "deleted", "content": ""},
        "erased": {"status": "hidden", "status_before_hiding": "deleted", "content": ""},
    }
    for name, values in changed.items():
        Message.objects.filter(pk=rows[name].pk).update(**values)
    Message.objects.filter(pk=rows["gone"].pk).delete()
    MIGRATION.forget_texts(None, SimpleNamespace(connection=connection))
    names = {name: names_and_decisions(row) for name, row in rows.items()}
    assert names == {name: [("Of published" if name == "published" else "", "Looked at: Odd.")] for name in posts}
    assert entries_about(Account, [boss.pk]).get().object_repr == str(boss)
