"""The items of the change log and of inboxes, as readers get them, and lists of them.

The posts and accounts that rows name are loaded in one statement each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson

from kernel.api.pagination import LIMIT_MAX
from kernel.cache.rendering import to_json
from kernel.changes import reading
from kernel.changes import reading as cursors
from kernel.changes.channels import Channel
from kernel.changes.reading import Batch
from kernel.changes.rows import START, ChangeRow, Position
from kernel.changes.streams.opening import Items
from kernel.database.sql import fetch_all
from messaging.accounts.deleted import deleted_account
from messaging.changes.types import ChangeType
from messaging.models import AccountKind
from messaging.posts.embed_views import embed_errors, shown_by
from messaging.posts.message_fields import account_from_row
from messaging.posts.message_sizes import PAGE_BYTES, messages_by_id
from messaging.posts.shown import Shown, left_out_of, without_foreign_quotes

DELETED = deleted_account(AccountKind.HUMAN)
# An item without its post and data: ids, a time, a cursor and an account with a long name.
ITEM_BYTES = 1_000
ACCOUNTS = "SELECT id, name, handle, kind FROM messaging_account WHERE id = ANY(%s::uuid[])"


@dataclass(frozen=True, slots=True)
class Related:
    """The published posts, rendered once, and the accounts by id.

    `rows` are the rows whose posts fit into one response: all of them, or the first ones. `left_out`: the posts that
    the reader's embed does not show; with None, changes of no single post too.
    """

    rows: Sequence[ChangeRow]
    messages: dict[UUID, bytes]
    accounts: dict[UUID, dict[str, Any]]
    left_out: Set[UUID | None] = frozenset()

    def message(self, row: ChangeRow) -> orjson.Fragment | None:
        """The row's post as it is now; None if it is not public."""
        body = None if row.message_id is None else self.messages.get(row.message_id)
        return None if body is None else orjson.Fragment(body)

    def actor(self, row: ChangeRow) -> dict[str, Any] | None:
        """The account that acted. One that is erased has no row any more."""
        return None if row.actor_id is None else self.accounts.get(row.actor_id, DELETED)


def related_to(rows: Sequence[ChangeRow], shown: Shown | None = None, *, of_page: bool = False) -> Related:
    """The posts and accounts of rows, at least of the first one, within PAGE_BYTES; with `shown` as an embed has them.

    `of_page`: the rows are those of a page, which a reader of the embed has asked for.
    """
    ids = list(dict.fromkeys(row.message_id for row in rows if row.message_id is not None))
    found, queried = messages_by_id(ids)
    found = without_foreign_quotes(found, shown)
    messages = {message["id"]: to_json(message) for message in found}
    fitting = rows[: _fitting(rows, messages, queried)]
    actors = {row.actor_id for row in fitting if row.actor_id is not None}
    accounts = fetch_all(ACCOUNTS, [list(actors)]) if actors else []
    left_out: set[UUID | None] = left_out_of(ids, shown, of_page=of_page) if shown else set()
    if shown and not of_page and shown.everyone:
        left_out.add(None)
    return Related(fitting, messages, {row[0]: account_from_row(row) for row in accounts}, left_out)


def _fitting(rows: Sequence[ChangeRow], messages: dict[UUID, bytes], queried: set[UUID]) -> int:
    """How many of the rows fit; a post may belong to many rows."""
    size = ITEM_BYTES
    for count, row in enumerate(rows):
        size += ITEM_BYTES + (len(to_json(row.data)) if row.data else 0)
        if row.message_id is not None:
            size += len(messages.get(row.message_id, b""))
        is_known = row.message_id is None or row.message_id in queried
        if count and (size > PAGE_BYTES or not is_known):
            return count
    return len(rows)


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


def requested_batch(channel: Channel, query: Mapping[str, Any], *, bound_to: str, since: Position = START) -> Batch:
    """The rows that a validated ListQuery with `tail` requests. Raises InvalidCursor (400), CursorExpired (410)."""
    if query["tail"]:
        return Batch([], reading.now())
    after = cursors.decode(query["cursor"], bound_to=bound_to) if "cursor" in query else None
    return reading.read(channel, after, limit=min(query["limit"], LIMIT_MAX), since=since)


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
