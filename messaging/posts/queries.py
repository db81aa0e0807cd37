"""Statements that read and insert a message, and the response body from a row.

The row of a deleted post that others answer has no content (`messaging.posts.deleting`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import Any, Protocol
from uuid import UUID

import orjson

from kernel.database.sql import Row, fetch_one
from messaging.accounts.deleted import deleted_account
from messaging.models import MessageStatus, OperatorReview
from messaging.pages.permalinks import PERMALINK_COLUMN, permalink
from messaging.posts.message_fields import (
    AUTHOR_COLUMNS,
    AUTHOR_ROLE_COLUMN,
    CONTENT_FIELDS,
    JOINS,
    MESSAGE_FIELDS,
    MODERATOR,
    PAGE_URL_COLUMN,
    QUOTE_COLUMNS,
    MessageField,
)
from messaging.posts.shown import Shown, is_visible, shown_among, without_foreign_quotes

DELETED, PENDING = MessageStatus.DELETED.value, MessageStatus.PENDING.value
# Who decides on a pending post: the values of `pendingFor`.
OPERATOR, MODERATORS = "operator", "moderators"


def pending_for(status: str, operator_review: str | None) -> dict[str, str]:
    """`{pendingFor}` of a pending post, which its author reads; nothing of other posts."""
    if status != PENDING:
        return {}
    return {"pendingFor": OPERATOR if operator_review == OperatorReview.WAITING else MODERATORS}


def mask(message: dict[str, Any]) -> dict[str, Any]:
    """The message without who wrote it and what it quoted."""
    author = deleted_account(message["author"]["kind"])
    return message | {"author": author, "authorRole": None, "quoteId": None, "quote": None, "editedAt": None}


EXPRESSIONS = [expression for field in MESSAGE_FIELDS for expression in field.columns]
COLUMNS = ", ".join(EXPRESSIONS)
VISIBLE_BY_ID = f"SELECT {COLUMNS} {JOINS} WHERE m.id = %s AND {is_visible('m')}"
BY_ID = f"SELECT {COLUMNS}, m.operator_review {JOINS} WHERE m.id = %s"

CONTENT_COLUMNS = [field.column for field in CONTENT_FIELDS]
INSERT = f"""
INSERT INTO messaging_message (id, page_id, community_id, author_id, author_kind, parent_id, quote_id, status,
    operator_review, {", ".join(CONTENT_COLUMNS)}, embed_id,
    reply_count, quote_count, reaction_counts, reaction_total, created_at, updated_at)
VALUES (%(id)s, %(page_id)s, %(community_id)s, %(author_id)s, %(author_kind)s, %(parent_id)s, %(quote_id)s,
    %(status)s, %(operator_review)s, {", ".join(f"%({column})s" for column in CONTENT_COLUMNS)}, %(embed_id)s,
    0, 0, '{{}}', 0, %(now)s, %(now)s)
"""  # noqa: S608  built from constants
# A row of COLUMNS from a dict; its keys are columns of the message, and expressions for joined tables.
ROW = itemgetter(*(expression.removeprefix("m.") for expression in EXPRESSIONS))
OF_A_NEW_MESSAGE = {
    "reply_count": 0,
    "quote_count": 0,
    "reaction_counts": "{}",
    "reaction_total": 0,
    "imported_score": None,
    "imported": False,
    "edited_at": None,
}


def _slices() -> Iterator[tuple[MessageField, slice]]:
    """Each field, and the slice of its columns in a row."""
    start = 0
    for field in MESSAGE_FIELDS:
        yield field, slice(start, start + len(field.columns))
        start += len(field.columns)


# Copied for each message: filling a dict with existing keys is faster than adding keys.
NULLS = dict.fromkeys(field.name for field in MESSAGE_FIELDS)
PLAIN = [(field.name, columns.start) for field, columns in _slices() if field.convert is None]
CONVERTED = [
    (field.name, columns.start, columns if field.select else columns.start, field.convert)
    for field, columns in _slices()
    if field.convert is not None
]


def message_from_row(row: Row) -> dict[str, Any]:
    """The Message of the API from a row of COLUMNS. A field is null if its first column is null."""
    message: dict[str, Any] = NULLS.copy()
    for name, index in PLAIN:
        message[name] = row[index]
    for name, first, columns, convert in CONVERTED:
        if row[first] is not None:
            message[name] = convert(row[columns])
    return mask(message) if message["status"] == DELETED else message


class Author(Protocol):
    """An account, or an object with these attributes of one."""

    pk: Any
    name: Any
    handle: Any
    kind: Any


def new_message(
    values: Mapping[str, Any], *, author: Author, is_moderator: bool, page_url: str | None, quote: Row
) -> dict[str, Any]:
    """The Message of the API from the values of INSERT, the URL of its page and a row of QUOTE_COLUMNS."""
    columns = {**OF_A_NEW_MESSAGE, **values, "created_at": values["now"], "updated_at": values["now"]}
    columns |= zip(AUTHOR_COLUMNS, (author.pk, author.name, author.handle, author.kind), strict=True)
    columns |= zip(QUOTE_COLUMNS, quote, strict=True)
    columns |= {PERMALINK_COLUMN: permalink(values["id"]), PAGE_URL_COLUMN: page_url}
    columns[AUTHOR_ROLE_COLUMN] = MODERATOR if is_moderator else None
    return message_from_row(ROW(columns))


def visible_message(message_id: UUID, shown: Shown | None = None) -> dict[str, Any] | None:
    """The message with that id, if it is public or a tombstone, and `shown` has it."""
    row = fetch_one(VISIBLE_BY_ID, [message_id])
    if row is None or (shown and message_id not in shown_among([message_id], shown)):
        return None
    return without_foreign_quotes([message_from_row(row)], shown)[0]


def stored_message(message_id: UUID) -> dict[str, Any]:
    """The message with that id, also one that is not public, for its author."""
    row = fetch_one(BY_ID, [message_id])
    if row is None:
        raise LookupError(message_id)
    message = message_from_row(row)
    return message | pending_for(message["status"], row[-1])


def stored_content(data: Mapping[str, Any]) -> dict[str, Any]:
    """The values of CONTENT_COLUMNS from a validated body by column; JSON is serialised to text."""
    return {
        field.column: _json(data[field.column]) if field.is_json else data[field.column] for field in CONTENT_FIELDS
    }


def _json(value: Any) -> str | None:
    return None if value is None else orjson.dumps(value).decode()
