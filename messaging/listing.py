"""Lists of posts, newest first, cut at a number of bytes: 100 posts and their top replies may weigh 50 MB.

Few posts are fetched as they are. Of more, PostgreSQL adds up what each weighs and sends no more than fits, so neither
the connection nor the process holds more; for few, that would cost a tenth of the list.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any, NamedTuple
from uuid import UUID

from config.api.sql import Row, fetch_all
from config.cache.rendering import to_json
from messaging.records import COLUMNS, JOINS, message_record

# What the answer of a list may take, unless it is a single post.
PAGE_BYTES = 2 * 1024 * 1024
ENVELOPE_BYTES = 200
# A list of so many posts is fetched as it is: at the documented caps, 11 of them weigh 3 MB.
FEW = 10
# A record without its texts and JSON: keys, ids, times, numbers, short strings. And what JSON makes of one character.
RECORD_BYTES = 1_000
ESCAPED_MAX = 6

WEIGHED = ("content", "quoted", "payload", "anchor_text", "context_anchor", "attachments", "reaction_counts")
WEIGHT = " + ".join([str(RECORD_BYTES), *(f"coalesce(octet_length({column}), 0)" for column in WEIGHED)])
# JSON is rendered once, to be weighed and to be sent.
TEXT_COLUMNS = re.sub(r"m\.(payload|context_anchor|attachments|reaction_counts)\b", r"m.\1::text AS \1", COLUMNS)
# Where they are in a row of COLUMNS, and where the id of the top reply follows.
WEIGHED_OF = itemgetter(1, 12, 19, 20, 21, 22, 27)
TOP_ID = 31

TOP_REPLY = """
    LEFT JOIN LATERAL (
        SELECT r.id FROM messaging_message r WHERE r.parent_id = m.id AND r.status = 'published'
        ORDER BY r.reaction_total DESC, r.created_at, r.id LIMIT 1
    ) top ON true
"""
FILTERS = {"author_kind": "m.author_kind = %s", "community_id": "m.community_id = %s", "tag_type": "m.tag_type = %s"}
OF_PAGE = "m.status = 'published' AND m.page_id = %s AND m.parent_id IS NULL"
# The page is that of the parent, which is looked up by its id.
OF_PARENT = """m.status = 'published' AND m.parent_id = %s AND EXISTS (
    SELECT FROM messaging_message p WHERE p.id = m.parent_id AND p.page_id = %s AND p.status = 'published')"""


class Found(NamedTuple):
    """Rows of COLUMNS, and whether there are more of those that were asked for, which did not fit."""

    rows: list[Row]
    are_cut: bool


def listed_records(
    *,
    page_id: str,
    parent_id: UUID | None,
    filters: dict[str, Any],
    after: tuple[datetime, UUID] | None,
    limit: int,
    with_top_reply: bool,
) -> tuple[list[dict[str, Any]], bool]:
    """(published posts of a page, or replies to `parent_id` there; whether there are more), in two statements.

    At most `limit`, and no more than fit into PAGE_BYTES, but one at least.
    """
    is_weighed = limit > FEW
    listed, values = _listing(page_id, parent_id, filters, after, limit + 1, with_top_reply, is_weighed)
    found = _fetch(listed, values, is_weighed=is_weighed)
    rows = found.rows[:limit]
    records = [message_record(row) for row in rows]
    if with_top_reply:
        replies = _top_replies([row[TOP_ID] for row in rows])
        records = _with_top_replies(records, [row[TOP_ID] for row in rows], replies)
        rows = rows + replies.rows
    if _weight(rows) * ESCAPED_MAX > PAGE_BYTES:
        records = records[: _fitting(records)]
    return records, found.are_cut or len(found.rows) > len(records)


def _listing(
    page_id: str,
    parent_id: UUID | None,
    filters: dict[str, Any],
    after: tuple[datetime, UUID] | None,
    count: int,
    with_top_reply: bool,
    is_weighed: bool,
) -> tuple[str, list[Any]]:
    values: list[Any] = [page_id] if parent_id is None else [parent_id, page_id]
    conditions = [OF_PAGE if parent_id is None else OF_PARENT]
    for name, value in filters.items():
        conditions.append(FILTERS[name])
        values.append(value)
    if after is not None:
        conditions.append("(m.created_at, m.id) < (%s, %s)")
        values += after
    columns, joins = TEXT_COLUMNS if is_weighed else COLUMNS, JOINS
    if with_top_reply:
        columns, joins = columns + ", top.id AS top_id", joins + TOP_REPLY
    where = " AND ".join(conditions)
    # The limit is in the text: as a parameter it is unknown to a prepared plan, and PostgreSQL, expecting a long list,
    # plans it again each time, which takes three times as long as the list itself.
    listed = f"SELECT {columns} {joins} WHERE {where} ORDER BY m.created_at DESC, m.id DESC LIMIT {count:d}"
    return _that_fit(listed, order="created_at DESC, id DESC") if is_weighed else listed, values


def _that_fit(statement: str, *, order: str) -> str:
    """The rows of a statement of TEXT_COLUMNS, as far as they fit, one at least; the last column tells of more."""
    return f"""
        SELECT * FROM (
            SELECT listed.*, lag(id) OVER w IS NULL AS is_first, sum({WEIGHT}) OVER w AS weight,
                lead(id) OVER w IS NOT NULL AS has_next
            FROM ({statement}) listed WINDOW w AS (ORDER BY {order} ROWS UNBOUNDED PRECEDING)
        ) weighed WHERE weight <= {PAGE_BYTES} OR is_first ORDER BY {order}
    """  # noqa: S608  made of constants and a statement of ours


OF_IDS = f"{JOINS} WHERE m.id = ANY(%(ids)s::uuid[])"
BY_IDS = f"SELECT {COLUMNS} {OF_IDS}"
THOSE_THAT_FIT = _that_fit(
    f"SELECT {TEXT_COLUMNS}, array_position(%(ids)s::uuid[], m.id) AS place {OF_IDS}", order="place"
)


def _fetch(statement: str, values: Any, *, is_weighed: bool) -> Found:
    rows = fetch_all(statement, values)
    return Found(rows, are_cut=is_weighed and bool(rows) and rows[-1][-1])


def _top_replies(ids: list[UUID | None]) -> Found:
    asked = [message_id for message_id in ids if message_id is not None]
    if not asked:
        return Found([], are_cut=False)
    is_weighed = len(asked) > FEW
    return _fetch(THOSE_THAT_FIT if is_weighed else BY_IDS, {"ids": asked}, is_weighed=is_weighed)


def _with_top_replies(records: list[dict[str, Any]], ids: list[UUID | None], replies: Found) -> list[dict[str, Any]]:
    """The records up to the last whose top reply fits."""
    by_id = {row[0]: message_record(row) for row in replies.rows}
    for record, message_id in zip(records, ids, strict=True):
        record["topReply"] = by_id.get(message_id)
    return records[: ids.index(replies.rows[-1][0]) + 1] if replies.are_cut else records


def _weight(rows: Sequence[Row]) -> int:
    """The characters of the rows, about and none too few."""
    return RECORD_BYTES * len(rows) + sum(len(text) for row in rows for text in WEIGHED_OF(row) if text)


def _fitting(records: list[dict[str, Any]]) -> int:
    """How many of the records fit into an answer; one at least."""
    taken = ENVELOPE_BYTES
    for count, record in enumerate(records):
        taken += len(to_json(record)) + 1
        if taken > PAGE_BYTES:
            return max(count, 1)
    return len(records)
