"""Waline's export, version 1: one JSON document with tables, of which comments and users are read. It is read twice.

The format is that of `packages/server/src/controller/db.js` of Waline, which its dashboard saves as `waline.json`; the
columns are those of `assets/waline.sqlite.sql`. The anchor of a comment is its `objectId` alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from moving.formats.json import Document
from moving.formats.json_records import records, scan
from moving.formats.records import (
    ADDRESS_MAX,
    Post,
    Record,
    Source,
    SpillingMap,
    State,
    UnreadableFile,
    Unusable,
    clean,
    identifier,
    line,
)
from moving.formats.typed import time_of_any, typed_or_html, whole, writer_of

# What is between the brackets of the document and its comments: `{"data": {"Comment": [`.
LEVEL = 3
TYPE = re.compile(rb'"type"\s*:\s*"waline"')
VERSION = re.compile(rb'"version"\s*:\s*1\s*[,}]')
NO_EXPORT = "The file is no export of Waline: it is no JSON object of type `waline` and version 1."
# A comment of an earlier release has no state, and is shown.
STATES: Mapping[str, State] = {"": "published", "approved": "published", "waiting": "pending", "spam": "spam"}


def read(source: Source) -> Iterator[Record]:
    users = SpillingMap()
    try:
        outline = scan(source, Document(frozenset({"Users"}), LEVEL), partial(_add, users), refusal=NO_EXPORT)
        if not TYPE.search(outline) or not VERSION.search(outline):
            raise UnreadableFile(NO_EXPORT)
        yield from records(source, Document(frozenset({"Comment"}), LEVEL), partial(_post, users))
    finally:
        users.close()


def _add(users: SpillingMap, _table: str, user: dict[str, Any]) -> None:
    users.add(
        identifier(user.get("objectId")), json.dumps([line(user.get(name), 1000) for name in ("display_name", "email")])
    )


def _post(users: SpillingMap, comment: dict[str, Any], number: int) -> Record:
    source_id = identifier(comment.get("objectId"))
    address = line(comment.get("url"), ADDRESS_MAX)
    if not source_id:
        return Unusable("", address, f"Comment {number} has no id.")
    state = STATES.get(clean(comment.get("status")))
    if state is None:
        return Unusable(source_id, address, "The state of the comment is not known.")
    user_id = identifier(comment.get("user_id"))
    found = users.get(user_id) if user_id else None
    name, email = json.loads(found) if found else (comment.get("nick"), comment.get("mail"))
    return Post(
        source_id=source_id,
        parent_id=identifier(comment.get("pid")) or identifier(comment.get("rid")),
        address=address if address.startswith("/") else "",
        author=writer_of(name, email, user_id=user_id if found else ""),
        created_at=time_of_any(comment.get("insertedAt")) or time_of_any(comment.get("createdAt")),
        thread_created_at=None,
        edited_at=None,
        text=typed_or_html(clean(comment.get("comment"))) if state != "spam" else "",
        state=state,
        score=whole(comment.get("like")),
        # SQL databases number from 1, others make ids that are unique everywhere.
        site="/" if source_id.isdecimal() else "",
        # A site may name its pages itself.
        identifier="" if address.startswith("/") else address,
    )
