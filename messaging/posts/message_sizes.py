"""Fetches messages, limited in bytes: 100 messages and their top replies may take 50 MB."""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import itemgetter
from typing import Any, NamedTuple
from uuid import UUID

from kernel.cache.rendering import to_json
from kernel.database.sql import Row, fetch_all
from messaging.posts.message_fields import JOINS, MESSAGE_FIELDS
from messaging.posts.queries import COLUMNS, EXPRESSIONS, message_from_row
from messaging.posts.shown import is_visible

# The limit of the response of a list, unless it contains a single message.
PAGE_BYTES = 2 * 1024 * 1024
ENVELOPE_BYTES = 200


def fitting(messages: Sequence[dict[str, Any]]) -> int:
    """How many of the messages fit into a response; at least one."""
    size = ENVELOPE_BYTES
    for count, message in enumerate(messages):
        size += len(to_json(message)) + 1
        if size > PAGE_BYTES:
            return max(count, 1)
    return len(messages)


# A list of up to this many messages is fetched without a limit in bytes: at the documented caps, 11 take 3 MB.
FEW = 10
# The size of a message without its long columns (keys, ids, times, numbers, short strings), and of one character
# escaped in JSON.
MESSAGE_BYTES = 1_200
ESCAPED_MAX = 6

# The names of the columns in a row, and in a subquery.
NAMES = [re.split(r"\W", expression)[-1] for expression in EXPRESSIONS]
LONG = {"quoted", "page_url", *(field.column for field in MESSAGE_FIELDS if field.is_long)}
WEIGHED = [name for name in NAMES if name in LONG]
WEIGHT = " + ".join([str(MESSAGE_BYTES), *(f"coalesce(octet_length({name}), 0)" for name in WEIGHED)])
WEIGHED_OF = itemgetter(*map(NAMES.index, WEIGHED))
# JSON is rendered once, for its size and for the response.
JSON_AS_TEXT = {
    f"m.{field.column}": f"m.{field.column}::text AS {field.column}" for field in MESSAGE_FIELDS if field.is_json
}
TEXT_COLUMNS = ", ".join(JSON_AS_TEXT.get(expression, expression) for expression in EXPRESSIONS)


def limited(statement: str, *, order: str) -> str:
    """The rows of a statement of TEXT_COLUMNS that fit, at least one. The last column is true if more follow."""
    return f"""
        SELECT * FROM (
            SELECT listed.*, lag(id) OVER w IS NULL AS is_first, sum({WEIGHT}) OVER w AS weight,
                lead(id) OVER w IS NOT NULL AS has_next
            FROM ({statement}) listed WINDOW w AS (ORDER BY {order} ROWS UNBOUNDED PRECEDING)
        ) weighed WHERE weight <= {PAGE_BYTES} OR is_first ORDER BY {order}
    """  # noqa: S608  built from constants and a statement of this module


OF_IDS = f"{JOINS} WHERE m.id = ANY(%(ids)s::uuid[]) AND {is_visible('m')}"
BY_IDS = f"SELECT {COLUMNS} {OF_IDS}"
BY_IDS_LIMITED = limited(
    f"SELECT {TEXT_COLUMNS}, array_position(%(ids)s::uuid[], m.id) AS place {OF_IDS}", order="place"
)


class Fetched(NamedTuple):
    """Rows of COLUMNS, and whether PostgreSQL omitted others that do not fit."""

    rows: list[Row]
    is_cut: bool


def fetch(statement: str, values: Any, *, is_weighed: bool) -> Fetched:
    rows = fetch_all(statement, values)
    return Fetched(rows, is_cut=is_weighed and bool(rows) and rows[-1][-1])


def fetch_by_ids(ids: Sequence[UUID]) -> Fetched:
    """The visible messages of these ids, in their order if some are omitted."""
    if not ids:
        return Fetched([], is_cut=False)
    is_weighed = len(ids) > FEW
    return fetch(BY_IDS_LIMITED if is_weighed else BY_IDS, {"ids": list(ids)}, is_weighed=is_weighed)


def messages_by_id(ids: Sequence[UUID]) -> tuple[list[dict[str, Any]], set[UUID]]:
    """(the visible ones among these messages, the ids that were looked up), in one statement.

    All ids are looked up, or the first ones whose messages fit into PAGE_BYTES.
    """
    fetched = fetch_by_ids(ids)
    rows, is_cut = fetched
    if may_exceed_a_page(rows):
        rows = sorted(rows, key=lambda row: ids.index(row[0]))
        rows = rows[: fitting([message_from_row(row) for row in rows])]
        is_cut = is_cut or len(rows) < len(fetched.rows)
    looked_up = ids[: ids.index(rows[-1][0]) + 1] if is_cut else ids
    return [message_from_row(row) for row in rows], set(looked_up)


def may_exceed_a_page(rows: Sequence[Row]) -> bool:
    """By an upper estimate of the number of characters of the rows."""
    texts = (text for row in rows for text in WEIGHED_OF(row) if text)
    return (MESSAGE_BYTES * len(rows) + sum(map(len, texts))) * ESCAPED_MAX > PAGE_BYTES
