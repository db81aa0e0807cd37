"""Quotes of our own exports: counted once while the quoting post is there, whichever import has brought either."""

from __future__ import annotations

from pathlib import Path

import pytest

from messaging.models import Message
from tests.commands.running import run
from tests.factories import CommunityFactory
from tests.moving.imports.importing import import_own

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("parent", [{}, {"parentId": "thread"}], ids=["post", "reply"])
def test_an_undone_import_does_not_count_in_a_post_of_another(parent: dict[str, str], tmp_path: Path) -> None:
    community = CommunityFactory()
    import_own(tmp_path / "first.jsonl", community, {"id": "quoted"})
    posts = ({"id": "quoted"}, {"id": "thread"}, {"id": "quoting", "quoteId": "quoted", **parent})
    second = import_own(tmp_path / "second.jsonl", community, *posts)
    quoted = Message.objects.get(content="quoted")
    assert (second.counts["new"], quoted.quote_count) == (2, 1)
    run("undo_import", second.id)
    quoted.refresh_from_db()
    assert (Message.objects.count(), quoted.quote_count) == (1, 0)


def test_a_quote_of_a_post_outside_of_the_file_is_reported(tmp_path: Path) -> None:
    imported = import_own(
        tmp_path / "posts.jsonl",
        CommunityFactory(),
        {"id": "with text", "quoteId": "outside"},
        {"id": "alone", "quoteId": "outside", "content": ""},
        {"id": "answered", "quoteId": "alone", "content": ""},
        {"id": "answer", "parentId": "answered"},
    )
    rows = {(row["source_id"], row["action"], row["reason"].partition(" (")[0]) for row in imported.report}
    assert rows == {
        ("with text", "changed", "Left out: quoteId"),
        ("alone", "changed", "Left out: quoteId"),
        ("alone", "skipped", "It is deleted, and no post answers it."),
        ("answered", "changed", "Left out: quoteId"),
    }
    written = Message.objects.values_list("content", "status", "is_tombstone", "quote")
    assert set(written) == {
        ("with text", "published", False, None),
        ("", "deleted", True, None),
        ("answer", "published", False, None),
    }


def test_a_quote_of_a_post_that_was_imported_before_is_restored(tmp_path: Path) -> None:
    community = CommunityFactory()
    import_own(tmp_path / "first.jsonl", community, {"id": "quoted"})
    second = import_own(tmp_path / "second.jsonl", community, {"id": "quoting", "quoteId": "quoted", "content": ""})
    assert second.report == []
    assert Message.objects.get(content="").quote.content == "quoted"


def test_a_post_without_any_content_is_left_out(tmp_path: Path) -> None:
    empty = ({"id": "a", "content": ""}, {"id": "b", "content": "", "quoteId": 5})
    imported = import_own(tmp_path / "posts.jsonl", CommunityFactory(), *empty)  # type: ignore[arg-type]
    reasons = [(row["source_id"], row["reason"]) for row in imported.report if row["action"] == "skipped"]
    assert reasons == [("a", "It has no text."), ("b", "It has no text.")]
    assert not Message.objects.exists()
