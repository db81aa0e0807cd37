"""The response of listMessages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from config.api.pagination import CursorPage, envelope
from messaging.queries.message_lists import FILTERS, MessageList, list_messages
from messaging.queries.message_orders import Sort
from messaging.services.moving import PageMoved, moved_to
from messaging.shown import shown_by


def listed(query: Mapping[str, Any], page: CursorPage) -> dict[str, Any]:
    """Raises PageMoved. Redirects are queried only for an empty list, so that other lists do not pay for it."""
    asked = MessageList(
        query["page_id"],
        query.get("parent_id"),
        filters={name: query[name] for name in FILTERS if name in query},
        sort=Sort(query["sort"]),
        shown=shown_by(query.get("embed_id")),
    )
    listed, next_position = list_messages(
        asked, after=page.after, limit=page.limit, with_top_reply=query["include_top_reply"]
    )
    if not listed and next_position is None and (page_id := moved_to(query["page_id"])) is not None:
        raise PageMoved(page_id)
    next_cursor = None if next_position is None else page.cursor_at(next_position)
    return envelope("messages", listed, next_cursor)
