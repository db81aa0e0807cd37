from __future__ import annotations

from functools import cached_property
from typing import Any, cast

from django.core.paginator import Paginator
from django.db.models import QuerySet

COUNTED_MAX = 10_000


class BoundedCountPaginator(Paginator):
    """Counts no further than anybody pages: a table may hold millions of rows."""

    @cached_property
    def count(self) -> int:
        return _count_so_far(cast("QuerySet[Any]", self.object_list))


def bounded_count(rows: QuerySet[Any]) -> str:
    """`12`, or `10000+`."""
    count = _count_so_far(rows)
    return f"{COUNTED_MAX}+" if count > COUNTED_MAX else str(count)


def _count_so_far(rows: QuerySet[Any]) -> int:
    return rows.order_by().values("pk")[: COUNTED_MAX + 1].count()
