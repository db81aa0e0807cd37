"""Lists of the messages of a page, and of the replies to one. With a filter they read a bounded number of rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from config.api.pagination import Position
from config.database.sql import fetch_all
from messaging.queries.joins import JOINS
from messaging.queries.message_orders import ORDERS, Order, Sort
from messaging.queries.message_sizes import (
    FEW,
    TEXT_COLUMNS,
    Fetched,
    fetch,
    fetch_by_ids,
    limited,
    may_exceed_a_page,
)
from messaging.queries.messages import COLUMNS, EXPRESSIONS, message_from_row
from messaging.queries.page_sizes import fitting
from messaging.queries.visibility import is_listed, is_visible

# A filtered list searches so many rows of a page, or replies, for its messages.
SCAN_MAX = 5_000
# The id of the top reply follows the columns of the message.
TOP_ID = len(EXPRESSIONS)
TOP_REPLY = """
    LEFT JOIN LATERAL (
        SELECT r.id FROM messaging_message r WHERE r.parent_id = m.id AND r.status = 'published'
        ORDER BY r.reaction_total DESC, r.created_at, r.id LIMIT 1
    ) top ON true
"""
FILTERS = {"author_kind": "m.author_kind = %s", "community_id": "m.community_id = %s", "tag_type": "m.tag_type = %s"}
OF_PAGE = f"{is_listed('m')} AND m.page_id = %s AND m.parent_id IS NULL"
# The page and the thread are checked on the parent, which is read by its id.
OF_PARENT = f"""{is_listed("m")} AND m.parent_id = %s AND EXISTS (
    SELECT FROM messaging_message p WHERE p.id = m.parent_id AND p.page_id = %s AND {is_visible("p")})"""


def list_messages(
    *,
    page_id: str,
    parent_id: UUID | None,
    filters: dict[str, Any],
    after: Position | None,
    limit: int,
    with_top_reply: bool,
    sort: Sort = Sort.NEWEST,
) -> tuple[list[dict[str, Any]], Position | None]:
    """(messages of a page, or replies to `parent_id` there; where the next ones begin), in at most three statements.

    At most `limit` messages, and no more than fit into PAGE_BYTES, but at least one. With filters only among SCAN_MAX
    rows: there may be fewer messages, or none, although others follow.
    """
    is_weighed, order = limit > FEW, ORDERS[sort]
    up_to = _end_of_scan(page_id, parent_id, after, order) if filters else None
    where, values = _where(page_id, parent_id, filters, after, up_to, order)
    statement = _statement(where, limit + 1, with_top_reply, is_weighed, order)
    fetched = fetch(statement, values, is_weighed=is_weighed)
    rows = fetched.rows[:limit]
    messages = [message_from_row(row) for row in rows]
    if with_top_reply:
        replies = _top_replies([row[TOP_ID] for row in rows])
        messages = _with_top_replies(messages, [row[TOP_ID] for row in rows], replies)
        rows = rows + replies.rows
    if may_exceed_a_page(rows):
        messages = messages[: fitting(messages)]
    if fetched.is_cut or len(fetched.rows) > len(messages):
        return messages, position_of(messages[-1], sort)
    return messages, up_to


def position_of(message: Mapping[str, Any], sort: Sort) -> Position:
    """Where a message is in a list of this order."""
    rank = [message["reactionTotal"]] if sort == Sort.REACTIONS else []
    return *rank, message["createdAt"], message["id"]


def _statement(where: str, count: int, with_top_reply: bool, is_weighed: bool, order: Order) -> str:
    columns, joins = TEXT_COLUMNS if is_weighed else COLUMNS, JOINS
    if with_top_reply:
        columns, joins = columns + ", top.id AS top_id", joins + TOP_REPLY
    # The limit is a literal. As a parameter, it is unknown to a prepared plan: PostgreSQL expects a long list and plans
    # the statement again each time, which takes three times as long as the list itself.
    listed = f"SELECT {columns} {joins} WHERE {where} {order.clause} LIMIT {count:d}"
    return limited(listed, order=", ".join(order.by)) if is_weighed else listed


def _where(
    page_id: str,
    parent_id: UUID | None,
    filters: dict[str, Any],
    after: Position | None,
    up_to: Position | None,
    order: Order,
) -> tuple[str, list[Any]]:
    values: list[Any] = [page_id] if parent_id is None else [parent_id, page_id]
    conditions = [OF_PAGE if parent_id is None else OF_PARENT]
    for name, value in filters.items():
        conditions.append(FILTERS[name])
        values.append(value)
    for position, condition in ((after, order.after), (up_to, order.up_to)):
        if position is not None:
            conditions.append(condition)
            values += position
    return " AND ".join(conditions), values


def _end_of_scan(page_id: str, parent_id: UUID | None, after: Position | None, order: Order) -> Position | None:
    """The position of the last of SCAN_MAX rows; None if no more follow. Reads the index, and changed rows."""
    where, values = _where(page_id, parent_id, {}, after, None, order)
    scanned = f"SELECT {order.position} FROM messaging_message m WHERE {where} {order.clause}"  # noqa: S608  constants
    rows = fetch_all(f"{scanned} LIMIT 2 OFFSET {SCAN_MAX - 1:d}", values)
    return rows[0] if len(rows) == 2 else None


def _top_replies(ids: list[UUID | None]) -> Fetched:
    return fetch_by_ids([message_id for message_id in ids if message_id is not None])


def _with_top_replies(messages: list[dict[str, Any]], ids: list[UUID | None], replies: Fetched) -> list[dict[str, Any]]:
    """The messages with their top replies, up to the last top reply that fits."""
    by_id = {row[0]: message_from_row(row) for row in replies.rows}
    for message, reply_id in zip(messages, ids, strict=True):
        message["topReply"] = by_id.get(reply_id)
    return messages[: ids.index(replies.rows[-1][0]) + 1] if replies.is_cut else messages
