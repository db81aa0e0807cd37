"""Statements that read and insert a message, and the answer made of a row.

The SQL is written, not built by the ORM: compiling a query takes longer than running it. It is assembled once, from
the table of fields. JSON columns come from PostgreSQL as text and are answered as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any, Protocol
from uuid import UUID

import orjson

from config.api.sql import Row, fetch_one
from messaging.queries.joins import AUTHOR_COLUMNS, JOINS, QUOTE_COLUMNS
from messaging.queries.message_fields import CONTENT_FIELDS, MESSAGE_FIELDS

EXPRESSIONS = [expression for field in MESSAGE_FIELDS for expression in field.columns]
COLUMNS = ", ".join(EXPRESSIONS)
PUBLISHED_BY_ID = f"SELECT {COLUMNS} {JOINS} WHERE m.id = %s AND m.status = 'published'"

CONTENT_COLUMNS = [field.column for field in CONTENT_FIELDS]
INSERT = f"""
INSERT INTO messaging_message (id, page_id, community_id, author_id, author_kind, parent_id, quote_id, status,
    {", ".join(CONTENT_COLUMNS)}, embed_id,
    reply_count, quote_count, reaction_counts, reaction_total, created_at, updated_at)
VALUES (%(id)s, %(page_id)s, %(community_id)s, %(author_id)s, %(author_kind)s, %(parent_id)s, %(quote_id)s,
    %(status)s, {", ".join(f"%({column})s" for column in CONTENT_COLUMNS)}, %(embed_id)s,
    0, 0, '{{}}', 0, %(now)s, %(now)s)
"""  # noqa: S608  made of constants
# A row of COLUMNS, from a dict by column, and by expression where another table is joined.
ROW = itemgetter(*(expression.removeprefix("m.") for expression in EXPRESSIONS))
COUNTS_OF_A_NEW_MESSAGE = {"reply_count": 0, "quote_count": 0, "reaction_counts": "{}", "reaction_total": 0}


def _compile_message_from_row() -> Callable[[Row], dict[str, Any]]:
    """A function that is one dict display, as if written by hand; a loop over the fields takes twice as long."""
    items, converters, start = [], {}, 0
    for field in MESSAGE_FIELDS:
        end = start + len(field.columns)
        value = f"row[{start}:{end}]" if field.select else f"row[{start}]"
        if field.from_row is not None:
            converters[field.column] = field.from_row
            value = f"{field.column}({value})"
        items.append(f"{field.name!r}: {value}")
        start = end
    source = f"lambda row: {{{', '.join(items)}}}"
    compiled: Callable[[Row], dict[str, Any]] = eval(source, converters)  # noqa: S307  # nosec B307
    return compiled


# The contract's Message, from a row of COLUMNS.
message_from_row = _compile_message_from_row()


class Author(Protocol):
    """An account, or an object with these attributes of it."""

    pk: Any
    name: Any
    handle: Any
    kind: Any


def new_message(values: Mapping[str, Any], *, author: Author, quote: Row) -> dict[str, Any]:
    """The contract's Message, from the values of INSERT and a row of QUOTE_COLUMNS."""
    columns = {**COUNTS_OF_A_NEW_MESSAGE, **values, "created_at": values["now"], "updated_at": values["now"]}
    columns |= zip(AUTHOR_COLUMNS, (author.pk, author.name, author.handle, author.kind), strict=True)
    columns |= zip(QUOTE_COLUMNS, quote, strict=True)
    return message_from_row(ROW(columns))


def published_message(message_id: UUID) -> dict[str, Any] | None:
    """The published message with that id, or None."""
    row = fetch_one(PUBLISHED_BY_ID, [message_id])
    return message_from_row(row) if row else None


def stored_content(data: Mapping[str, Any]) -> dict[str, Any]:
    """The values of CONTENT_COLUMNS, from a validated body by column. JSON is stored as text."""
    return {
        field.column: _json(data[field.column]) if field.is_json else data[field.column] for field in CONTENT_FIELDS
    }


def _json(value: Any) -> str | None:
    return None if value is None else orjson.dumps(value).decode()
