"""Deletes many rows in batches, so that locks are short.

Readers of the change log wait for the oldest transaction, so each batch has its own.
"""

from __future__ import annotations

from datetime import date
from typing import Any

from django.db import transaction
from django.db.models import Model, QuerySet

from kernel.database.sql import execute
from kernel.writes.transaction import retried

BATCH = 5_000
# Django cannot lock rows with a composite key, as `_delete_batch` does. Large tables have an index of the column.
DELETE_OLD = """
DELETE FROM {table} WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM {table} WHERE {column} < %(before)s ORDER BY {column} LIMIT {count:d} FOR UPDATE SKIP LOCKED
))
"""


def delete_in_batches(rows: QuerySet[Any]) -> int:
    """Return the number of rows."""
    total = 0
    while deleted := _delete_batch(rows):
        total += deleted
    return total


def delete_old_in_batches(model: type[Model], *, column: str, before: date) -> int:
    """As `delete_in_batches`, of a model with a composite key: the rows before a day or a time."""
    statement = DELETE_OLD.format(table=model._meta.db_table, column=column, count=BATCH)
    total, deleted = 0, BATCH
    while deleted == BATCH:
        deleted = execute(statement, {"before": before})
        total += deleted
    return total


@retried
@transaction.atomic
def _delete_batch(rows: QuerySet[Any]) -> int:
    """Delete rows that no other transaction has locked, so that two prunes cannot deadlock. Return their number."""
    free = rows.select_for_update(skip_locked=True, of=("self",)).order_by("pk")
    batch = list(free.values_list("pk", flat=True)[:BATCH])
    return int(rows.filter(pk__in=batch).delete()[1].get(rows.model._meta.label, 0))
