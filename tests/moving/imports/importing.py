"""Runs imports as the command does."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.db.models import Q

from embeds.models import Embed
from messaging.communities.services import create_community
from messaging.models import Account, Community, Message
from messaging.pages.page_ids import normalize
from moving.models import ImportedAuthor, ImportedPage, ImportedPost, Move, MovePart
from reactions.models import Reaction

MAP = ("harwick-lantern.example=lantern.example",)
HOST = ("/=https://lantern.example/",)
# Of the addresses in the samples, after MAP, and in files that tests write.
HOSTS = ("lantern.example", "big.example")


def site(owner: Account, name: str, *, hosts: Sequence[str] = HOSTS, **fields: Any) -> Community:
    """A community with a widget on these hosts."""
    community = create_community(owner=owner, name=name)
    Embed.objects.create(owner=owner, community=community, name=name, domain_whitelist=list(hosts), **fields)
    return community


class Imported:
    """The output of a run: its numbers by name, and the rows of its report."""

    def __init__(self, out: str, err: str, report: Path) -> None:
        self.out, self.err = out, err
        lines = [line.partition(": ") for line in out.splitlines()]
        numbers = ((name, text.replace(",", "")) for name, _, text in lines)
        self.counts = {name: int(text) for name, text in numbers if text.isdecimal()}
        self.id = next((count.split()[0] for name, _, count in lines if name == "import"), "")
        with report.open(encoding="utf-8", newline="") as file:
            self.report = list(csv.DictReader(file))


def import_posts(
    format: str,
    file: Path,
    community: Community,
    report: Path,
    *,
    map: tuple[str, ...] = (),
    map_file: Path | None = None,
    dry_run: bool = False,
    any_host: bool = True,
) -> Imported:
    out, err = StringIO(), StringIO()
    options: dict[str, Any] = {
        "any_host": any_host,
        "format": format or None,
        "community": str(community.pk),
        "map": list(map),
        "map_file": map_file and str(map_file),
        "report": str(report),
    }
    call_command("import_posts", str(file), **options, dry_run=dry_run, stdout=out, stderr=err)
    return Imported(out.getvalue(), err.getvalue(), report)


def import_own(file: Path, community: Community, *posts: dict[str, Any]) -> Imported:
    """Import an export of our own: posts by one author, each given as its id and other fields."""
    header = {"type": "header", "format": "community-messaging", "version": 1}
    of_all = {
        "type": "post",
        "pageUrl": "https://lantern.example/letters/",
        "author": {"id": "ada", "name": "Ada", "handle": "ada", "kind": "human"},
        "status": "published",
        "createdAt": "2026-11-01T08:15:30Z",
    }
    lines = [header, *(of_all | {"content": post.get("id")} | post for post in posts)]
    lines.append({"type": "end", "posts": len(posts), "reactions": 0})
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return import_posts("jsonl", file, community, file.with_suffix(".csv"))


def shown(community: Community) -> Any:
    """The posts that others see in their places: published ones and tombstones."""
    listed = Q(status="published") | Q(is_tombstone=True)
    return Message.objects.filter(listed, community=community, in_hidden_thread=False)


def rows_of(community: Community) -> list[Any]:
    """All that imports have written into a community."""
    moves = Move.objects.filter(community=community)
    of_moves = (model.objects.filter(move__in=moves) for model in (ImportedPost, ImportedPage, MovePart))
    of_the_community = (model.objects.filter(community=community) for model in (ImportedAuthor, Message))
    reactions = Reaction.objects.filter(message__community=community)
    return [list(rows.order_by("pk").values()) for rows in (moves, *of_moves, *of_the_community, reactions)]


def page_of(key: str) -> str:
    return normalize(KEYS[key]).page_id


KEYS = {
    "bridge": "https://lantern.example/2016/03/mill-bridge-closed/",
    "library": "https://lantern.example/2017/11/library-hours/",
    "market": "https://lantern.example/news.php?id=42&section=town",
    "market2": "https://lantern.example/news.php?id=43&section=town",
    "arabic": "https://lantern.example/ar/%D8%A3%D8%AE%D8%A8%D8%A7%D8%B1-%D8%A7%D9%84%D8%AC%D8%B3%D8%B1/",
    "chinese": "https://lantern.example/zh/%E7%A3%A8%E5%9D%8A%E6%A1%A5/",
    "letters": "https://lantern.example/letters/",
    "code": "https://lantern.example/blog/flood-map/",
    "flood": "https://lantern.example/2012/11/flood/",
    "school": "https://lantern.example/2021/09/school-bus",
    "obits": "https://lantern.example/Obituaries/",
    "obits_lower": "https://lantern.example/obituaries/",
}
