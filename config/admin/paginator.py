from __future__ import annotations

from functools import cached_property
from typing import Any, cast

from django.core.paginator import Paginator
from django.db.models import QuerySet

COUNTED_MAX = 10_000


class BoundedCountPaginator(Paginator):
    """Counts up to COUNTED_MAX rows: a table may have millions."""

    @cached_property
    def count(self) -> int:
        return _count_up_to_max(cast("QuerySet[Any]", self.object_list))


def bounded_count(rows: QuerySet[Any]) -> str:
    """`12`, or `10000+`."""
    count = _count_up_to_max(rows)
    return f"{COUNTED_MAX}+" if count > COUNTED_MAX else str(count)


def _count_up_to_max(rows: QuerySet[Any]) -> int:
    return rows.order_by().values("pk")[: COUNTED_MAX + 1].count()
