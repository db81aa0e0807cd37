"""Lists of the messages of a page, and of the replies to one. With a filter they read a bounded number of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple
from uuid import UUID

from kernel.api.pagination import Position
from kernel.database.sql import fetch_all
from messaging.posts.message_fields import JOINS
from messaging.posts.message_sizes import (
    FEW,
    TEXT_COLUMNS,
    Fetched,
    fetch,
    fetch_by_ids,
    fitting,
    limited,
    may_exceed_a_page,
)
from messaging.posts.queries import COLUMNS, EXPRESSIONS, message_from_row
from messaging.posts.shown import Shown, is_listed, is_visible, without_foreign_quotes


class Sort(StrEnum):
    """The order of a list. `reactions`: most reactions first, then newest."""

    NEWEST = "newest"
    OLDEST = "oldest"
    REACTIONS = "reactions"


# PostgreSQL would take the untyped value of a number for text.
TYPES = {"reaction_total": "::int"}


class Order(NamedTuple):
    """The columns that a list is ordered by; `is_descending`: a later row has lower values."""

    columns: tuple[str, ...]
    is_descending: bool

    @property
    def by(self) -> tuple[str, ...]:
        return tuple(f"{column} DESC" if self.is_descending else column for column in self.columns)

    @property
    def clause(self) -> str:
        return "ORDER BY " + ", ".join(f"m.{column}" for column in self.by)

    @property
    def position(self) -> str:
        """The columns of a position."""
        return ", ".join(f"m.{column}" for column in self.columns)

    @property
    def after(self) -> str:
        """The condition for the rows after a position."""
        return self._compared("<" if self.is_descending else ">", "after")

    @property
    def up_to(self) -> str:
        """The condition for the rows up to a position, and that one."""
        return self._compared(">=" if self.is_descending else "<=", "up_to")

    def values(self, name: str, position: Position) -> dict[str, Any]:
        """The values of `after` or `up_to`, which is the name."""
        return {f"{name}_{column}": value for column, value in zip(self.columns, position, strict=True)}

    def _compared(self, operator: str, name: str) -> str:
        values = ", ".join(f"%({name}_{column})s{TYPES.get(column, '')}" for column in self.columns)
        return f"({self.position}) {operator} ({values})"


# Each order has an index for pages and one for replies (see the model).
ORDERS = {
    Sort.NEWEST: Order(("created_at", "id"), is_descending=True),
    Sort.OLDEST: Order(("created_at", "id"), is_descending=False),
    Sort.REACTIONS: Order(("reaction_total", "created_at", "id"), is_descending=True),
}


# A filtered list searches so many rows of a page, or replies, for its messages.
SCAN_MAX = 5_000
# The id of the top reply follows the columns of the message.
TOP_ID = len(EXPRESSIONS)
TOP_REPLY = """
    LEFT JOIN LATERAL (
        SELECT r.id FROM messaging_message r WHERE r.parent_id = m.id AND r.status = 'published' AND {shown}
        ORDER BY r.reaction_total DESC, r.created_at, r.id LIMIT 1
    ) top ON true
"""
FILTERS = {
    "author_kind": "m.author_kind = %(author_kind)s",
    "community_id": "m.community_id = %(community_id)s",
    "tag_type": "m.tag_type = %(tag_type)s",
}
OF_PAGE = f"{is_listed('m')} AND m.page_id = %(page)s AND m.parent_id IS NULL AND {{shown}}"
# The page and the thread are checked on the parent, which is read by its id.
OF_PARENT = f"""{is_listed("m")} AND m.parent_id = %(parent)s AND {{shown}} AND EXISTS (
    SELECT FROM messaging_message p WHERE p.id = m.parent_id AND p.page_id = %(page)s AND {is_visible("p")}
        AND {{parent_shown}}
)"""


@dataclass(frozen=True, slots=True)
class MessageList:
    """The posts of a page, or the replies to `parent_id` there: of `shown`, those that the widget shows.

    `only` and `without`: those that a community has pinned there, which are listed before the others.
    """

    page_id: str
    parent_id: UUID | None = None
    filters: Mapping[str, Any] = field(default_factory=dict)
    sort: Sort = Sort.NEWEST
    shown: Shown | None = None
    only: Sequence[UUID] | None = None
    without: Sequence[UUID] = ()

    @property
    def order(self) -> Order:
        return ORDERS[self.sort]

    @property
    def is_scanned(self) -> bool:
        """Whether no index has these rows alone."""
        return bool(self.filters) or (self.shown is not None and self.shown.is_filtered)

    @property
    def values(self) -> dict[str, Any]:
        shown = self.shown.values if self.shown else {}
        pins = {"only": self.only and list(self.only), "without": list(self.without)}
        return {"page": self.page_id, "parent": self.parent_id, **self.filters, **shown, **pins}

    @property
    def rows(self) -> str:
        """The condition on the rows of an index."""
        shown, parent_shown = ("true", "true")
        if self.shown and not self.shown.is_filtered:
            shown = self.shown.posts("m") if self.parent_id is None else self.shown.replies("m")
        if self.shown:
            parent_shown = self.shown.any("p")
        rows = (OF_PAGE if self.parent_id is None else OF_PARENT).format(shown=shown, parent_shown=parent_shown)
        if self.without:
            rows += " AND m.id <> ALL(%(without)s::uuid[])"
        return rows if self.only is None else f"{rows} AND m.id = ANY(%(only)s::uuid[])"

    @property
    def filtered(self) -> list[str]:
        """The conditions that the rows of the index are searched for."""
        conditions = [FILTERS[name] for name in self.filters]
        if self.shown and self.shown.is_filtered:
            conditions.append(self.shown.posts("m"))
        return conditions

    def top_reply(self) -> str:
        return TOP_REPLY.format(shown=self.shown.replies("r") if self.shown else "true")


def list_messages(
    asked: MessageList, *, after: Position | None = None, limit: int, with_top_reply: bool = False
) -> tuple[list[dict[str, Any]], Position | None]:
    """(messages; where the next ones begin), in at most three statements, and one more for the quotes of a widget.

    At most `limit` messages, and no more than fit into PAGE_BYTES, but at least one. With filters only among SCAN_MAX
    rows: there may be fewer messages, or none, although others follow.
    """
    is_weighed = limit > FEW
    up_to = _end_of_scan(asked, after) if asked.is_scanned else None
    where, values = _where(asked, after, up_to)
    where = " AND ".join([where, *asked.filtered])
    fetched = fetch(_statement(asked, where, limit + 1, with_top_reply, is_weighed), values, is_weighed=is_weighed)
    rows = fetched.rows[:limit]
    messages = [message_from_row(row) for row in rows]
    if with_top_reply:
        replies = _top_replies([row[TOP_ID] for row in rows])
        messages = _with_top_replies(messages, [row[TOP_ID] for row in rows], replies)
        rows = rows + replies.rows
    if may_exceed_a_page(rows):
        messages = messages[: fitting(messages)]
    is_followed = fetched.is_cut or len(fetched.rows) > len(messages)
    messages = without_foreign_quotes(messages, asked.shown)
    return messages, position_of(messages[-1], asked.sort) if is_followed else up_to


def position_of(message: Mapping[str, Any], sort: Sort) -> Position:
    """Where a message is in a list of this order."""
    rank = [message["reactionTotal"]] if sort == Sort.REACTIONS else []
    return *rank, message["createdAt"], message["id"]


def _statement(asked: MessageList, where: str, count: int, with_top_reply: bool, is_weighed: bool) -> str:
    columns, joins, order = TEXT_COLUMNS if is_weighed else COLUMNS, JOINS, asked.order
    if with_top_reply:
        columns, joins = columns + ", top.id AS top_id", joins + asked.top_reply()
    # The limit is a literal. As a parameter, it is unknown to a prepared plan: PostgreSQL expects a long list and plans
    # the statement again each time, which takes three times as long as the list itself.
    listed = f"SELECT {columns} {joins} WHERE {where} {order.clause} LIMIT {count:d}"
    return limited(listed, order=", ".join(order.by)) if is_weighed else listed


def _where(asked: MessageList, after: Position | None, up_to: Position | None) -> tuple[str, dict[str, Any]]:
    """The condition on the rows of the index between two positions, and the values of the statement."""
    conditions, values, order = [asked.rows], asked.values, asked.order
    if after is not None:
        conditions.append(order.after)
        values |= order.values("after", after)
    if up_to is not None:
        conditions.append(order.up_to)
        values |= order.values("up_to", up_to)
    return " AND ".join(conditions), values


def _end_of_scan(asked: MessageList, after: Position | None) -> Position | None:
    """The position of the last of SCAN_MAX rows; None if no more follow. Reads the index, and changed rows."""
    where, values = _where(asked, after, None)
    scanned = f"SELECT {asked.order.position} FROM messaging_message m WHERE {where} {asked.order.clause}"  # noqa: S608  constants
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
