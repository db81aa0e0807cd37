"""Comentario's export, version 3: one JSON document with pages, comments and commenters. The file is read twice.

The format is that of `comentarioExportV3` in `internal/svc/impex_comentario.go` of Comentario 3, whose records
are `domainPage`, `comment` and `commenter` of its `swagger.yml`. Its anchors are `#comentario-` and the id.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

from moving.formats.json import Document
from moving.formats.json_records import records, require_version, scan
from moving.formats.records import (
    ADDRESS_MAX,
    NAME_MAX,
    TITLE_MAX,
    Author,
    Post,
    Record,
    Source,
    SpillingMap,
    State,
    Unusable,
    author_of,
    clean,
    identifier,
    line,
    score_of,
    time_of,
)
from moving.html_to_markdown import html_to_markdown

VERSION = 3
NO_EXPORT = "The file is no export of Comentario: it is no JSON object with a version and comments."
# The user of all comments whose writers have not signed in.
NOBODY = "00000000-0000-0000-0000-000000000000"
ANCHOR = "#comentario-"


def read(source: Source) -> Iterator[Record]:
    known = SpillingMap()
    try:
        outline = scan(source, Document(frozenset({"pages", "commenters"})), partial(_add, known), refusal=NO_EXPORT)
        require_version(outline, program="Comentario", version=VERSION, refusal=NO_EXPORT)
        yield from records(source, Document(frozenset({"comments"})), partial(_post, known))
    finally:
        known.close()


def _add(known: SpillingMap, array: str, record: dict[str, Any]) -> None:
    key = identifier(record.get("id"))
    if array == "pages":
        page = [line(record.get("path"), ADDRESS_MAX), line(record.get("title"), TITLE_MAX)]
        known.add(f"page {key}", json.dumps(page))
    else:
        known.add(f"user {key}", json.dumps([line(record.get(field), 1000) for field in ("name", "email")]))


def _post(known: SpillingMap, comment: dict[str, Any], number: int) -> Record:
    source_id = identifier(comment.get("id"))
    # The whole address of the comment; without it, the path of its page.
    address = line(comment.get("url"), ADDRESS_MAX).partition(ANCHOR)[0]
    path, title = json.loads(known.get(f"page {identifier(comment.get('pageId'))}") or '["", ""]')
    address = address or path
    if not source_id:
        return Unusable("", address, f"Comment {number} has no id.")
    state = _state(comment)
    if state is None:
        return Unusable(source_id, address, "A moderator has rejected the comment.")
    text = clean(comment.get("markdown")) or html_to_markdown(clean(comment.get("html")))
    return Post(
        source_id=source_id,
        parent_id=identifier(comment.get("parentId")),
        address=address,
        author=_author(known, comment),
        created_at=time_of(comment.get("createdTime")),
        thread_created_at=None,
        edited_at=time_of(comment.get("editedTime")),
        text=text if state != "deleted" else "",
        state=state,
        score=score_of(comment.get("score")),
        title=title,
    )


def _state(comment: dict[str, Any]) -> State | None:
    if comment.get("isDeleted") is True:
        return "deleted"
    if comment.get("isPending") is True:
        return "pending"
    return "published" if comment.get("isApproved") is True else None


def _author(known: SpillingMap, comment: dict[str, Any]) -> Author:
    user_id = identifier(comment.get("userCreated"))
    if user_id in {"", NOBODY}:
        return author_of(name=line(comment.get("authorName"), NAME_MAX))
    name, email = json.loads(known.get(f"user {user_id}") or '["", ""]')
    return author_of(source_id=f"user:{user_id}", name=name, email=email)
