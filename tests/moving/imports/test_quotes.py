"""Quotes of our own exports: counted once while the quoting post is there, whichever import has brought either."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from messaging.models import Community, Message
from tests.commands.running import run
from tests.factories import CommunityFactory
from tests.moving.imports.importing import Imported, import_posts

pytestmark = pytest.mark.django_db


def import_own(file: Path, community: Community, *posts: dict[str, str]) -> Imported:
    """Import posts by one author, given as id, parentId and quoteId."""
    header = {"type": "header", "format": "community-messaging", "version": 1}
    of_all = {
        "type": "post",
        "pageUrl": "https://lantern.example/letters/",
        "author": {"id": "ada", "name": "Ada", "handle": "ada", "kind": "human"},
        "status": "published",
        "createdAt": "2026-11-01T08:15:30Z",
    }
    lines = [header, *(of_all | {"content": post["id"]} | post for post in posts)]
    lines.append({"type": "end", "posts": len(posts), "reactions": 0})
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return import_posts("jsonl", file, community, file.with_suffix(".csv"))


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
