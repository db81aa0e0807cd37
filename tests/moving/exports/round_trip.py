"""Exports posts, imports the file elsewhere, and compares what is there with what was."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

from django.core.management import call_command

from messaging.models import Community
from tests.commands.running import run
from tests.factories import CommunityFactory

NOBODY = "00000000-0000-0000-0000-000000000000"


def exported(community: Community, *options: str) -> list[dict[str, Any]]:
    text = run("export_posts", "--community", str(community.pk), *options)
    return [json.loads(line) for line in text.rstrip("\n").split("\n")]


def copy_of(community: Community, folder: Path, *options: str) -> Community:
    """Another community with the imported posts of this one."""
    file, copy = folder / f"{community.slug}.jsonl.gz", CommunityFactory()
    run("export_posts", "--community", str(community.pk), "--output", str(file), *options)
    import_file(file, copy)
    return copy


def import_file(file: Path, community: Community, format: str = "jsonl") -> str:
    """The output of the command."""
    out, report = StringIO(), f"{file}.report.csv"
    values = {"format": format, "community": str(community.pk), "report": report}
    call_command("import_posts", str(file), **values, stdout=out, stderr=StringIO())
    return out.getvalue() + Path(report).read_text()


def without_ids(lines: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The posts with the place of each in the file instead of its id, and of its author instead of theirs."""
    posts = [line for line in lines if line["type"] == "post"]
    places = {post["id"]: place for place, post in enumerate(posts)}
    authors: dict[str, int] = {NOBODY: -1}
    for post in posts:
        # The order of those of one moment is that of ids.
        reactions = sorted(post["reactions"], key=lambda reaction: (reaction["createdAt"], reaction["author"]["name"]))
        yield {
            **post,
            "id": places[post["id"]],
            "parentId": places.get(post.get("parentId", "")),
            "quoteId": places.get(post.get("quoteId", "")),
            "communityId": None,
            "author": _author(post["author"], authors),
            "reactions": [{**reaction, "author": _author(reaction["author"], authors)} for reaction in reactions],
        }


def _author(author: dict[str, Any], known: dict[str, int]) -> dict[str, Any]:
    place = known.setdefault(author["id"], len(known))
    return {"id": place, "name": author["name"], "kind": author["kind"]}
