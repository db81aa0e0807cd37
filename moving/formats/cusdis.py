"""Cusdis's SQLite database, since Cusdis exports nothing. Only `projects`, `pages` and `comments` are read.

The tables are those of `prisma/sqlite/schema.prisma` of Cusdis. Prisma stores times in milliseconds since 1970. Cusdis
has no anchors of comments.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from moving.formats import sqlite_file
from moving.formats.records import (
    ADDRESS_MAX,
    TITLE_MAX,
    Post,
    Record,
    Source,
    SpillingMap,
    State,
    Unusable,
    identifier,
    line,
)
from moving.formats.sqlite_file import Row, Shape, as_text
from moving.formats.typed import time_of_any, writer_of

SHAPE = Shape(
    "Cusdis",
    "The file is no SQLite database of Cusdis. Use the file that `DB_URL` of Cusdis names.",
    {
        "projects": ("id", "deleted_at?"),
        "pages": ("id", "slug", "url", "title?", "projectId"),
        "comments": (
            *("id", "pageId", "parentId", "created_at", "deletedAt", "approved"),
            *("moderatorId", "by_email", "by_nickname", "content"),
        ),
    },
)


def read(source: Source) -> Iterator[Record]:
    known = SpillingMap()
    try:
        yield from sqlite_file.read(
            source, SHAPE, refer=lambda table, row: _add(known, table, row), post_of=lambda row: _post(known, row)
        )
    finally:
        known.close()


def _add(known: SpillingMap, table: str, row: Row) -> None:
    if table == "projects":
        known.add(f"project {_id(row['id'])}", "withdrawn" if row["deleted_at"] is not None else "")
        return
    address, own_id = line(as_text(row["url"]), ADDRESS_MAX), line(as_text(row["slug"]), TITLE_MAX)
    # The id that the site gives to the page may be its path, where Cusdis was not told its address.
    address = address or (own_id if own_id.startswith("/") else "")
    state = known.get(f"project {_id(row['projectId'])}") or ""
    page = [address, own_id, line(as_text(row["title"]), TITLE_MAX), state]
    known.add(f"page {_id(row['id'])}", json.dumps(page))


def _post(known: SpillingMap, row: Row) -> Record:
    source_id = _id(row["id"])
    page = known.get(f"page {_id(row['pageId'])}")
    if not source_id:
        return Unusable("", "", "A comment has no id.")
    if page is None:
        return Unusable(source_id, "", "The page of the comment is not in the file.")
    address, own_id, title, state = json.loads(page)
    state = state or _state(row)
    created_at = row["created_at"]
    return Post(
        source_id=source_id,
        parent_id=_id(row["parentId"]),
        address=address,
        author=writer_of(as_text(row["by_nickname"]), as_text(row["by_email"]), user_id=_id(row["moderatorId"])),
        created_at=time_of_any(as_text(created_at) or created_at),
        thread_created_at=None,
        edited_at=None,
        text=as_text(row["content"]) if state in {"published", "pending"} else "",
        state=state,
        score=None,
        identifier="" if own_id.startswith("/") else own_id,
        title=title,
    )


def _state(row: Row) -> State:
    if row["deletedAt"] is not None:
        return "deleted"
    return "published" if row["approved"] == 1 else "pending"


def _id(value: object) -> str:
    return identifier(as_text(value) or value)
