"""Appends to the change log, in the transaction that makes the change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any
from uuid import UUID

from kernel.cache.rendering import to_json
from kernel.changes import wakeups
from kernel.database.sql import execute
from kernel.writes.transaction import WriteTransaction


@dataclass(frozen=True, slots=True, kw_only=True)
class NewChange:
    """A row to append; its fields are those of the model. `account_id` None: a public change."""

    type: str
    page_id: str | None = None
    community_id: UUID | None = None
    message_id: UUID | None = None
    account_id: UUID | None = None
    actor_id: UUID | None = None
    about_id: UUID | None = None
    data: dict[str, Any] | None = None


COLUMNS = ", ".join(field.name for field in fields(NewChange))
# One statement and one parameter for any number of rows.
APPEND = f"""
INSERT INTO changes_change ({COLUMNS})
SELECT {COLUMNS} FROM json_populate_recordset(NULL::changes_change, %(changes)s::json)
"""  # noqa: S608  only constants


def append(changes: Sequence[NewChange], *, transaction: WriteTransaction | None = None) -> None:
    """Append rows in their order. A WriteTransaction runs the statement with its last one, once per transaction."""
    if not changes:
        return
    values = {"changes": to_json(changes).decode()}
    if transaction is None:
        execute(APPEND, values)
    else:
        transaction.defer_statement(APPEND, values)
    wakeups.announce()
