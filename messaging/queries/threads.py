"""Whether the thread of a post is public, and the post with what its permalink needs."""

from __future__ import annotations

from typing import Any, NamedTuple
from uuid import UUID

from config.database.sql import fetch_one
from messaging.queries.joins import JOINS
from messaging.queries.messages import COLUMNS, message_from_row

# For this time after a widget was loaded on a page, permalinks lead to the page.
EMBEDDED_DAYS = 30

# A chain of replies that is longer counts as public.
DEPTH_MAX = 100
# For the alias `m`: no post that it answers, directly or not, is hidden or pending. A deleted one leaves its replies.
THREAD_IS_PUBLIC = f"""
    (m.parent_id IS NULL OR NOT EXISTS (
        WITH RECURSIVE ancestor (parent_id, status, depth) AS (
            SELECT p.parent_id, p.status, 1 FROM messaging_message p WHERE p.id = m.parent_id
            UNION ALL
            SELECT p.parent_id, p.status, ancestor.depth + 1
            FROM ancestor JOIN messaging_message p ON p.id = ancestor.parent_id WHERE ancestor.depth < {DEPTH_MAX}
        )
        SELECT FROM ancestor WHERE status NOT IN ('published', 'deleted')
    ))
"""  # noqa: S608  built from constants
IS_EMBEDDED = f"page.last_embedded_on > (clock_timestamp() AT TIME ZONE 'UTC')::date - {EMBEDDED_DAYS}"
FIND = f"""
SELECT coalesce({IS_EMBEDDED}, false), {COLUMNS} {JOINS}
WHERE m.id = %s AND m.status = 'published' AND {THREAD_IS_PUBLIC}
"""


class LinkedPost(NamedTuple):
    """A public post; `is_embedded`: a widget was loaded on its page in the last EMBEDDED_DAYS."""

    message: dict[str, Any]
    is_embedded: bool


def linked_post(message_id: UUID) -> LinkedPost | None:
    """The post of a permalink; None if it or a post that it answers is not public."""
    row = fetch_one(FIND, [message_id])
    return None if row is None else LinkedPost(message_from_row(row[1:]), row[0])
