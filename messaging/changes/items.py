"""The items of the public change log, as readers get them."""

from __future__ import annotations

from typing import Any

from config.changes.reading import ChangeRow
from config.changes.streams.feeds import Feed
from messaging.changes.related import Related, related_to


def public_item(row: ChangeRow, related: Related, *, cursor: str) -> dict[str, Any]:
    """A public change. `message` is the post as it is now, `reaction` as of the change.

    Both are null if the post is not public any more.
    """
    message = related.message(row)
    return {
        "id": cursor,
        "type": row.type,
        "at": row.at,
        "pageId": row.page_id,
        "communityId": row.community_id,
        "messageId": row.message_id,
        "message": message,
        "reaction": None if message is None or row.data is None else row.data | {"author": related.actor(row)},
    }


PUBLIC_FEED = Feed(related_to, public_item)
