"""A post with what its permalink needs."""

from __future__ import annotations

from typing import Any, NamedTuple
from uuid import UUID

from config.database.sql import fetch_one
from messaging.queries.joins import JOINS
from messaging.queries.messages import COLUMNS, message_from_row
from messaging.queries.visibility import is_visible

# For this time after a widget was loaded on a page, permalinks lead to the page.
EMBEDDED_DAYS = 30

IS_EMBEDDED = f"page.last_embedded_on > (clock_timestamp() AT TIME ZONE 'UTC')::date - {EMBEDDED_DAYS}"
FIND = f"""
SELECT coalesce({IS_EMBEDDED}, false), page.embedded_origin, {COLUMNS} {JOINS}
WHERE m.id = %s AND {is_visible("m")}
"""


class LinkedPost(NamedTuple):
    """A public post or a tombstone; `is_embedded`: a widget was loaded on its page in the last EMBEDDED_DAYS.

    `origin`: where it was loaded, if that is known.
    """

    message: dict[str, Any]
    is_embedded: bool
    origin: str | None


def linked_post(message_id: UUID) -> LinkedPost | None:
    """The post of a permalink; None if it is not public."""
    row = fetch_one(FIND, [message_id])
    return None if row is None else LinkedPost(message_from_row(row[2:]), row[0], row[1])
