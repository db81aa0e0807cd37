"""The response of listMessages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from config.api.pagination import CursorPage, Position, envelope
from messaging.queries.message_lists import FILTERS, list_messages
from messaging.queries.message_orders import Sort
from messaging.services.moving import PageMoved, moved_to


def listed(query: Mapping[str, Any], page: CursorPage) -> dict[str, Any]:
    """Raises PageMoved. Redirects are queried only for an empty list, so that other lists do not pay for it."""
    listed, has_more = list_messages(
        page_id=query["page_id"],
        parent_id=query.get("parent_id"),
        filters={name: query[name] for name in FILTERS if name in query},
        after=page.after,
        limit=page.limit,
        with_top_reply=query["include_top_reply"],
        sort=Sort(query["sort"]),
    )
    if not listed and (page_id := moved_to(query["page_id"])) is not None:
        raise PageMoved(page_id)
    next_cursor = page.cursor_at(_position(listed[-1], query["sort"])) if has_more else None
    return envelope("messages", listed, next_cursor)


def _position(message: Mapping[str, Any], sort: str) -> Position:
    rank = [message["reactionTotal"]] if sort == Sort.REACTIONS else []
    return *rank, message["createdAt"], message["id"]
