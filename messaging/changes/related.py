"""Loads the posts and accounts that rows of the change log name, in one statement each."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson

from kernel.cache.rendering import to_json
from kernel.changes.rows import ChangeRow
from kernel.database.sql import fetch_all
from messaging.deleted_accounts import deleted_account
from messaging.models import AccountKind
from messaging.queries.joins import account_from_row
from messaging.queries.message_sizes import messages_by_id
from messaging.queries.page_sizes import PAGE_BYTES
from messaging.queries.shown import Shown, left_out_of, without_foreign_quotes

DELETED = deleted_account(AccountKind.HUMAN)
# An item without its post and data: ids, a time, a cursor and an account with a long name.
ITEM_BYTES = 1_000
ACCOUNTS = "SELECT id, name, handle, kind FROM messaging_account WHERE id = ANY(%s::uuid[])"


@dataclass(frozen=True, slots=True)
class Related:
    """The published posts, rendered once, and the accounts by id.

    `rows` are the rows whose posts fit into one response: all of them, or the first ones. `left_out`: the posts that
    the reader's embed does not show; with None, changes of no single post too.
    """

    rows: Sequence[ChangeRow]
    messages: dict[UUID, bytes]
    accounts: dict[UUID, dict[str, Any]]
    left_out: Set[UUID | None] = frozenset()

    def message(self, row: ChangeRow) -> orjson.Fragment | None:
        """The row's post as it is now; None if it is not public."""
        body = None if row.message_id is None else self.messages.get(row.message_id)
        return None if body is None else orjson.Fragment(body)

    def actor(self, row: ChangeRow) -> dict[str, Any] | None:
        """The account that acted. One that is erased has no row any more."""
        return None if row.actor_id is None else self.accounts.get(row.actor_id, DELETED)


def related_to(rows: Sequence[ChangeRow], shown: Shown | None = None, *, of_page: bool = False) -> Related:
    """The posts and accounts of rows, at least of the first one, within PAGE_BYTES; with `shown` as an embed has them.

    `of_page`: the rows are those of a page, which a reader of the embed has asked for.
    """
    ids = list(dict.fromkeys(row.message_id for row in rows if row.message_id is not None))
    found, queried = messages_by_id(ids)
    found = without_foreign_quotes(found, shown)
    messages = {message["id"]: to_json(message) for message in found}
    fitting = rows[: _fitting(rows, messages, queried)]
    actors = {row.actor_id for row in fitting if row.actor_id is not None}
    accounts = fetch_all(ACCOUNTS, [list(actors)]) if actors else []
    left_out: set[UUID | None] = left_out_of(ids, shown, of_page=of_page) if shown else set()
    if shown and not of_page and shown.everyone:
        left_out.add(None)
    return Related(fitting, messages, {row[0]: account_from_row(row) for row in accounts}, left_out)


def _fitting(rows: Sequence[ChangeRow], messages: dict[UUID, bytes], queried: set[UUID]) -> int:
    """How many of the rows fit; a post may belong to many rows."""
    size = ITEM_BYTES
    for count, row in enumerate(rows):
        size += ITEM_BYTES + (len(to_json(row.data)) if row.data else 0)
        if row.message_id is not None:
            size += len(messages.get(row.message_id, b""))
        is_known = row.message_id is None or row.message_id in queried
        if count and (size > PAGE_BYTES or not is_known):
            return count
    return len(rows)
