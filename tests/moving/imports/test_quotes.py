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
