"""How a message looks to readers, in one place: the columns that are read, and the record made of them.

The statements are written, not built: compiling the same query anew costs more than running it. JSON columns come
from PostgreSQL as text and go out as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

import orjson

from config.api.sql import Row, fetch_all, fetch_one

QUOTE_COLUMNS = "q.id, q.content, q.created_at, qa.id, qa.name, qa.handle, qa.kind"
COLUMNS = f"""
    m.id, m.content, m.status, a.id, a.name, a.handle, a.kind, m.page_id, m.community_id, m.parent_id, m.quote_id,
    {QUOTE_COLUMNS},
    m.tag_type, m.payload, m.anchor_text, m.context_anchor, m.attachments, m.language, m.source_app,
    m.reply_count, m.quote_count, m.reaction_counts, m.reaction_total, m.created_at, m.updated_at
"""
JOINS = """
    FROM messaging_message m
    JOIN messaging_account a ON a.id = m.author_id
    LEFT JOIN messaging_message q ON q.id = m.quote_id AND q.status = 'published'
    LEFT JOIN messaging_account qa ON qa.id = q.author_id
"""
TOP_REPLY = """
    LEFT JOIN LATERAL (
        SELECT r.id FROM messaging_message r WHERE r.parent_id = m.id AND r.status = 'published'
        ORDER BY r.reaction_total DESC, r.created_at, r.id LIMIT 1
    ) top ON true
"""
BY_IDS = f"SELECT {COLUMNS} {JOINS} WHERE m.id = ANY(%s)"
PUBLISHED_BY_ID = f"SELECT {COLUMNS} {JOINS} WHERE m.id = %s AND m.status = 'published'"


def account_of(row: Sequence[Any]) -> dict[str, Any]:
    """From (id, name, handle, kind)."""
    return {"id": row[0], "name": row[1], "handle": row[2], "kind": row[3]}


def message_record(row: Row) -> dict[str, Any]:
    """The contract's Message, from one row of COLUMNS."""
    return {
        "id": row[0],
        "content": row[1],
        "status": row[2],
        "author": account_of(row[3:7]),
        "pageId": row[7],
        "communityId": row[8],
        "parentId": row[9],
        "quoteId": row[10],
        "quote": _quote(row[11:18]),
        "tagType": row[18],
        "payload": _json(row[19]),
        "anchorText": row[20],
        "contextAnchor": _json(row[21]),
        "attachments": _json(row[22]),
        "language": row[23],
        "sourceApp": row[24],
        "replyCount": row[25],
        "quoteCount": row[26],
        "reactionCounts": _json(row[27]),
        "reactionTotal": row[28],
        "createdAt": row[29],
        "updatedAt": row[30],
    }


class Author(Protocol):
    """An account, or what is known of it."""

    pk: Any
    name: Any
    handle: Any
    kind: Any


def new_record(values: Mapping[str, Any], *, author: Author, quote: Row) -> dict[str, Any]:
    """The record of a post that is being written. `values`: those of its columns; `quote`: a row of QUOTE_COLUMNS."""
    return message_record(
        (
            *(values[name] for name in ("id", "content", "status")),
            *(author.pk, author.name, author.handle, author.kind),
            *(values[name] for name in ("page_id", "community_id", "parent_id", "quote_id")),
            *quote,
            *(values[name] for name in ("tag_type", "payload", "anchor_text", "context_anchor", "attachments")),
            *(values[name] for name in ("language", "source_app")),
            *(0, 0, "{}", 0),
            *(values["now"], values["now"]),
        )
    )


def published_record(message_id: UUID) -> dict[str, Any] | None:
    """The record of a published message, None for any other."""
    row = fetch_one(PUBLISHED_BY_ID, [message_id])
    return message_record(row) if row else None


def listed_records(
    *,
    page_id: str,
    parent_id: UUID | None,
    filters: dict[str, Any],
    after: tuple[datetime, UUID] | None,
    count: int,
    with_top_reply: bool,
) -> list[dict[str, Any]]:
    """At most `count` published posts of a page (or replies to `parent_id` there), newest first, in two statements."""
    statement, values = _listing(page_id, parent_id, filters, after, count, with_top_reply)
    rows = fetch_all(statement, values)
    records = [message_record(row) for row in rows]
    if with_top_reply:
        top = _records_of(row[-1] for row in rows)
        for record, row in zip(records, rows, strict=True):
            record["topReply"] = top.get(row[-1])
    return records


FILTERS = {"author_kind": "m.author_kind = %s", "community_id": "m.community_id = %s", "tag_type": "m.tag_type = %s"}
OF_PAGE = "m.status = 'published' AND m.page_id = %s AND m.parent_id IS NULL"
# The page is that of the parent: asked of the replies, it might be looked up by the index of pages, and then sorted.
OF_PARENT = """m.status = 'published' AND m.parent_id = %s AND EXISTS (
    SELECT FROM messaging_message p WHERE p.id = m.parent_id AND p.page_id = %s AND p.status = 'published')"""


def _listing(
    page_id: str,
    parent_id: UUID | None,
    filters: dict[str, Any],
    after: tuple[datetime, UUID] | None,
    count: int,
    with_top_reply: bool,
) -> tuple[str, list[Any]]:
    values: list[Any] = [page_id] if parent_id is None else [parent_id, page_id]
    conditions = [OF_PAGE if parent_id is None else OF_PARENT]
    for name, value in filters.items():
        conditions.append(FILTERS[name])
        values.append(value)
    if after is not None:
        conditions.append("(m.created_at, m.id) < (%s, %s)")
        values += after
    columns, joins = (COLUMNS + ", top.id", JOINS + TOP_REPLY) if with_top_reply else (COLUMNS, JOINS)
    where = " AND ".join(conditions)
    # The limit stands in the text: as a parameter it is unknown to a prepared plan, and PostgreSQL, expecting a long
    # list, plans anew each time, which takes three times as long as the list itself.
    return f"SELECT {columns} {joins} WHERE {where} ORDER BY m.created_at DESC, m.id DESC LIMIT {count:d}", values


def _records_of(ids: Iterable[UUID | None]) -> dict[UUID | None, dict[str, Any]]:
    wanted = [message_id for message_id in ids if message_id is not None]
    if not wanted:
        return {}
    return {row[0]: message_record(row) for row in fetch_all(BY_IDS, [wanted])}


def _quote(row: Row) -> dict[str, Any] | None:
    if row[0] is None:
        return None
    return {"id": row[0], "content": row[1], "author": account_of(row[3:7]), "createdAt": row[2]}


def _json(text: str | None) -> orjson.Fragment | None:
    return None if text is None else orjson.Fragment(text)
