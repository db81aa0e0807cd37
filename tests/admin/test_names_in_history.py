"""The history calls a post by its first words: not after the author has deleted, edited or left them."""

from __future__ import annotations

from datetime import timedelta
from importlib import import_module
from types import SimpleNamespace

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.test import Client
from django.utils import timezone

from config.admin.audit import entries_about, log_decision
from messaging.models import Account, Message, PostsChoice
from messaging.personal_data.erasures import request_erasure
from messaging.personal_data.jobs import run_due_jobs
from messaging.services.moderation import approve_message
from tests.admin.pages import read
from tests.api import Api
from tests.factories import MessageFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
MIGRATION = import_module("messaging.migrations.0040_texts_of_deleted_posts")
TEXT = "Unwise words"
DECISION = "Approved (pending → published): Fine."


@pytest.fixture
def post(boss: Account) -> Message:
    """A post that a super admin has approved."""
    found: Message = MessageFactory(content=TEXT, status="pending")
    approve_message(message_id=found.pk, by=boss, reason="Fine.")
    log_decision(by=boss, about=MessageFactory(content="Other words"), verb="Looked at")
    assert names_and_decisions(found) == [(TEXT, DECISION)]
    return found


def names_and_decisions(post: Message) -> list[tuple[str, str]]:
    return list(entries_about(Message, [post.pk]).values_list("object_repr", "change_message"))


def test_a_deletion_removes_the_text_and_leaves_the_reason(post: Message, admin_client: Client) -> None:
    assert Api.as_person(post.author).delete(f"/api/messages/{post.pk}").status == 200
    assert names_and_decisions(post) == [("", DECISION)]
    assert TEXT not in read(admin_client, LogEntry, "changelist", q="Unwise")
    assert "Other words" in read(admin_client, LogEntry, "changelist", q="words")


def test_an_edit_removes_the_text(post: Message) -> None:
    assert Api.as_person(post.author).put(f"/api/messages/{post.pk}", {"content": "Wise"}).status == 200
    assert names_and_decisions(post) == [("", DECISION)]


def test_an_edit_that_changes_nothing_leaves_the_text(post: Message) -> None:
    assert Api.as_person(post.author).put(f"/api/messages/{post.pk}", {"content": TEXT}).status == 200
    assert names_and_decisions(post) == [(TEXT, DECISION)]


def test_an_erasure_that_leaves_the_posts_removes_texts_and_reasons(post: Message) -> None:
    """Also of posts that a release without this rule has deleted."""
    log_decision(by=SuperAdminFactory(), about=post, verb="Hidden", reason="Rude.")
    Message.objects.filter(pk=post.pk).update(status="deleted", content="")
    request_erasure(person=post.author, posts=PostsChoice.ANONYMOUS, by=post.author, wait=timedelta())
    assert run_due_jobs()["erasures"] == 1
    assert sorted(names_and_decisions(post)) == [("", "Approved (pending → published)"), ("", "Hidden")]


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
