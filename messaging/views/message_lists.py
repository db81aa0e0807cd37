"""The response of listMessages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from kernel.api.pagination import CursorPage, envelope
from messaging.queries.discussions import pinned_of
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
    with_top_reply = query["include_top_reply"]
    pinned = _pinned(asked)
    # A page has room for one more post, at which the next one begins.
    first = () if asked.filters else pinned[: page.limit - 1]
    pins: list[dict[str, Any]] = []
    if first and page.after is None:
        pins, _end = list_messages(replace(asked, only=first), limit=len(first), with_top_reply=with_top_reply)
        pins.sort(key=lambda message: first.index(message["id"]))
    rest, next_position = list_messages(
        replace(asked, without=first) if first else asked,
        after=page.after,
        limit=page.limit - len(pins),
        with_top_reply=with_top_reply,
    )
    messages = pins + rest
    if not messages and next_position is None and (page_id := moved_to(query["page_id"])) is not None:
        raise PageMoved(page_id)
    if asked.shown is not None:
        for message in messages:
            message["pinned"] = message["id"] in pinned
    next_cursor = None if next_position is None else page.cursor_at(next_position)
    return envelope("messages", messages, next_cursor)


def _pinned(asked: MessageList) -> Sequence[UUID]:
    """The posts that the community of an embed has pinned on the page, the last pinned one first."""
    if asked.shown is None or not asked.shown.has_pins or asked.parent_id is not None:
        return ()
    return pinned_of(asked.page_id, asked.shown.community_id)
