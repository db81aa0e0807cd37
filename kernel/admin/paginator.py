from __future__ import annotations

from functools import cached_property
from typing import Any, cast

from django.contrib.admin.views.main import ChangeList
from django.core.paginator import EmptyPage, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest

COUNTED_MAX = 10_000


class BoundedCountPaginator(Paginator):
    """Counts up to COUNTED_MAX rows: a table may have millions."""

    @cached_property
    def count(self) -> int:
        return _count_up_to_max(cast("QuerySet[Any]", self.object_list))

    def validate_number(self, number: Any) -> int:
        """A page that does not exist any more is the last one: decisions take rows out of a list with filters."""
        try:
            return super().validate_number(number)
        except EmptyPage:
            return self.num_pages if int(number) > 1 else 1


class PagedChangeList(ChangeList):
    """Shows as the current page the one that the paginator chose, and sorts by columns of `sortable_by` alone."""

    def get_ordering_field(self, field_name: Any) -> Any:
        """Django takes the links from the headers of other columns, and accepts the parameter of a link."""
        return super().get_ordering_field(field_name) if field_name in (self.sortable_by or ()) else None

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.page_num = self.paginator.validate_number(self.page_num)


def bounded_count(rows: QuerySet[Any]) -> str:
    """`12`, or `10000+`."""
    return bounded_text(_count_up_to_max(rows))


def bounded_text(count: int) -> str:
    """`12`, or `10000+` for a count that ended at the bound."""
    return f"{COUNTED_MAX}+" if count > COUNTED_MAX else str(count)


def _count_up_to_max(rows: QuerySet[Any]) -> int:
    return rows.order_by().values("pk")[: COUNTED_MAX + 1].count()
