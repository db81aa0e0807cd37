"""How reactions look to readers: one page of them with the counts of their post."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from config.api.pagination import CursorPage, Position, envelope
from config.api.sql import fetch_all
from messaging.queries.joins import account_from_row
from reactions.statements import listing


def reaction_page(*, message_id: UUID, page: CursorPage) -> dict[str, Any] | None:
    """`{messageId, total, counts, reactions, hasMore, nextCursor}`, newest first; None unless the post is public."""
    rows = _rows(message_id, page)
    if not rows:
        return None
    (counts, total, *_), *listed = rows
    kept, next_cursor = page.split(listed, _position)
    head = {"messageId": message_id, "total": total, "counts": orjson.Fragment(counts)}
    return head | envelope("reactions", [_record(row) for row in kept], next_cursor)


def _rows(message_id: UUID, page: CursorPage) -> list[Any]:
    values: dict[str, Any] = {"message": message_id}
    if page.after is not None:
        values["created_at"], values["id"] = page.after
    return fetch_all(listing(page.limit + 1, is_first=page.after is None), values)


def _position(row: Sequence[Any]) -> Position:
    created_at: datetime = row[4]
    return created_at, row[2]


def _record(row: Sequence[Any]) -> dict[str, Any]:
    return {"id": row[2], "emoji": row[3], "author": account_from_row(row[5:9]), "createdAt": row[4]}
