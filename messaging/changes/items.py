"""The items of the change log and of inboxes, as readers get them, and lists of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from kernel.api.pagination import LIMIT_MAX
from kernel.changes import cursors, reading
from kernel.changes.channels import Channel
from kernel.changes.reading import Batch
from kernel.changes.rows import ChangeRow
from kernel.changes.streams.sources import Items
from messaging.changes.related import Related, related_to
from messaging.changes.types import ChangeType
from messaging.shown import embed_errors, shown_by


def public_item(row: ChangeRow, related: Related, *, cursor: str) -> dict[str, Any]:
    """A public change. `message` is the post as it is now, `reaction` as of the change.

    Both are null if the post is not public any more. `posts` is the number of posts of a `page.imported`.
    """
    message = related.message(row)
    is_import = row.type == ChangeType.PAGE_IMPORTED
    return {
        "id": cursor,
        "type": row.type,
        "at": row.at,
        "pageId": row.page_id,
        "communityId": row.community_id,
        "messageId": row.message_id,
        "message": message,
        "reaction": None if message is None or row.data is None else row.data | {"author": related.actor(row)},
        "posts": row.data["posts"] if is_import and row.data else None,
    }


def inbox_item(row: ChangeRow, related: Related, *, cursor: str) -> dict[str, Any]:
    """An event of an inbox. `message` is the post as it is now, null if it is not public."""
    return {
        "id": cursor,
        "type": row.type,
        "at": row.at,
        "actor": related.actor(row),
        "pageId": row.page_id,
        "messageId": row.message_id,
        "message": related.message(row),
        "aboutId": row.about_id,
        "data": row.data or {},
    }


@dataclass(frozen=True, slots=True)
class EmbedReader:
    """Loads what items need for a reader of an embed, as the embed is at that time. `of_page`: of one page.

    Equal readers are one source of streams, which is loaded and rendered once. So it is called itself: methods of equal
    objects are not equal.
    """

    embed_id: UUID
    of_page: bool

    def __call__(self, rows: Sequence[ChangeRow]) -> Related:
        try:
            return related_to(rows, shown_by(self.embed_id), of_page=self.of_page)
        except embed_errors():
            # The embed was paused or deleted while the stream was open: it shows nothing.
            return Related(rows, {}, {}, {row.message_id for row in rows})


def shown_item(row: ChangeRow, related: Related, *, cursor: str) -> dict[str, Any] | None:
    """A public change; None of a post that the embed does not show."""
    return None if row.message_id in related.left_out else public_item(row, related, cursor=cursor)


def items_of(embed_id: UUID | None, *, of_page: bool) -> Items:
    """The public changes, for a reader of this embed those of what it shows."""
    return PUBLIC_ITEMS if embed_id is None else Items(EmbedReader(embed_id, of_page), shown_item)


PUBLIC_ITEMS = Items(related_to, public_item)
INBOX_ITEMS = Items(related_to, inbox_item)


def requested_batch(channel: Channel, query: Mapping[str, Any], *, bound_to: str) -> Batch:
    """The rows that a validated ListQuery with `tail` requests. Raises InvalidCursor (400), CursorExpired (410)."""
    if query["tail"]:
        return Batch([], reading.now())
    after = cursors.decode(query["cursor"], bound_to=bound_to) if "cursor" in query else None
    return reading.read(channel, after, limit=min(query["limit"], LIMIT_MAX))


def listed(batch: Batch, *, key: str, items: Items, bound_to: str) -> dict[str, Any]:
    """`{<key>: [item, …], hasMore, nextCursor}`, within the limit of a response; unlike other lists, it has no end."""
    related = items.load(batch.rows)
    batch = batch.first(len(related.rows))
    rendered = [
        items.render(row, related, cursor=cursors.encode(batch.cursor_after(row), bound_to=bound_to))
        for row in related.rows
    ]
    return {
        key: [item for item in rendered if item is not None],
        "hasMore": batch.has_more,
        "nextCursor": cursors.encode(batch.next, bound_to=bound_to),
    }
