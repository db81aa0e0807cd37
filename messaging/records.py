"""How a message looks to readers, in one place: the columns that are read, and the record made of them.

The statements are written, not built: compiling the same query anew costs more than running it. JSON columns come
from PostgreSQL as text and go out as they are. Lists are in `messaging.listing`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol
from uuid import UUID

import orjson

from config.api.sql import Row, fetch_one

QUOTE_COLUMNS = """q.id AS quoted_id, q.content AS quoted, q.created_at AS quoted_at,
    qa.id AS quoted_author_id, qa.name, qa.handle, qa.kind"""
COLUMNS = f"""
    m.id, m.content, m.status, a.id AS author_id, a.name, a.handle, a.kind,
    m.page_id, m.community_id, m.parent_id, m.quote_id,
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


def _quote(row: Row) -> dict[str, Any] | None:
    if row[0] is None:
        return None
    return {"id": row[0], "content": row[1], "author": account_of(row[3:7]), "createdAt": row[2]}


def _json(text: str | None) -> orjson.Fragment | None:
    return None if text is None else orjson.Fragment(text)
