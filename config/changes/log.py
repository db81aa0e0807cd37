"""Appends to the change log, in the transaction that makes the change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from config.cache.rendering import to_json
from config.changes import wakeups
from config.database.sql import execute
from config.writes.transaction import WriteTransaction

COLUMNS = ("type", "page_id", "community_id", "message_id", "account_id", "actor_id", "about_id", "data")
# One statement and one parameter for any number of rows.
APPEND = f"""
INSERT INTO changes_change ({", ".join(COLUMNS)})
SELECT {", ".join(COLUMNS)} FROM json_to_recordset(%(changes)s::json) AS change (
    type text, page_id text, community_id uuid, message_id uuid, account_id uuid, actor_id uuid, about_id uuid,
    data jsonb
)
"""  # noqa: S608  only constants


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
