"""Reads many rows, of which only a batch is in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from django.db.models import Model, QuerySet

Row = TypeVar("Row", bound=Model)


def in_batches(rows: QuerySet[Row, Row], size: int = 500) -> Iterator[Row]:
    """The rows in the order of their keys. Rows that are written meanwhile may be missing."""
    ordered, last = rows.order_by("pk"), None
    while batch := list(ordered[:size] if last is None else ordered.filter(pk__gt=last)[:size]):
        yield from batch
        last = batch[-1].pk
