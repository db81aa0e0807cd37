"""A list of the admin as CSV, streamed in batches.

Filters of lists that show how many rows each choice has.

The list to which a page of the admin leads back, also that of another model: a parameter of the page's URL.

The times of rows as a page shows them: a decision does not apply to what came later.

The form of the page sends the `updated_at` of each, the time of its content, as the field `seen-ID`
(`templates/admin/shared/seen.html`), and its `decided_at`, the time of the decision to undo, as `decided-ID`.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, cast
from urllib.parse import urlencode, urlsplit, urlunsplit
from uuid import UUID

from django.contrib.admin.filters import ChoicesFieldListFilter
from django.contrib.admin.views.main import ChangeList
from django.core.paginator import EmptyPage, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, StreamingHttpResponse
from django.urls import Resolver404, resolve

from kernel.api.times import parse_time
from kernel.csv_cells import neutral_cell
from kernel.database.sql import in_batches

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


class CountedChoices(ChoicesFieldListFilter):
    """The counts are of the whole table, without other filters, and bounded: a count ends after COUNTED_MAX rows. So a
    choice needs an index unless most rows have it.
    """

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        shown = super().choices(changelist)
        yield next(shown)
        for (value, _label), choice in zip(self.field.flatchoices, shown, strict=False):
            rows = changelist.model._default_manager.filter(**{self.lookup_kwarg: value})
            choice["display"] = f"{choice['display']} ({bounded_count(rows)})"
            yield choice


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter of a list with its links. `chosen` is the text of the chosen link, and empty for the first one, which
    does not filter.
    """

    title: str
    choices: list[Any]
    chosen: str


def read_filters(changelist: ChangeList) -> list[Filter]:
    """The filters of a list, each read once: reading one may count rows."""
    found = []
    for spec in changelist.filter_specs:
        choices = list(spec.choices(changelist))
        chosen = [str(choice["display"]) for choice in choices[1:] if choice["selected"]]
        found.append(Filter(str(spec.title), choices, chosen[0] if chosen else ""))
    return found


@dataclass(frozen=True, slots=True)
class QueueSummary:
    """Rows that wait for a decision: their count (`bounded_count`), the time of the oldest, and the URL of the list."""

    label: str
    count: str
    since: datetime | None
    url: str

    @classmethod
    def of(cls, label: str, rows: QuerySet[Any], url: str) -> QueueSummary:
        oldest = rows.order_by("created_at").values_list("created_at", flat=True).first()
        return cls(label, bounded_count(rows), oldest, url)


RETURN = "_return"


def returning(url: str, to: str) -> str:
    """The URL with the list to which its page leads back."""
    return f"{url}{'&' if '?' in url else '?'}{urlencode({RETURN: to})}" if to else url


def return_url(request: HttpRequest) -> str:
    """The list with its filters and the row; empty without one. Only lists of the admin, so it leads nowhere else."""
    try:
        parts = urlsplit(request.GET.get(RETURN, ""))
        match = resolve(parts.path)
    except (ValueError, Resolver404):
        return ""
    is_list = match.app_name == "admin" and str(match.url_name).endswith("_changelist")
    return urlunsplit(parts) if is_list and not parts.scheme and not parts.netloc else ""


def seen_name(pk: UUID) -> str:
    return f"seen-{pk}"


def seen_at(sent: Mapping[str, str], pk: UUID) -> datetime | None:
    """The time of a row in a form; None if it has none, as those of an earlier release."""
    return parse_time(sent.get(seen_name(pk), ""))


def decided_name(pk: UUID) -> str:
    return f"decided-{pk}"


def decided_at(sent: Mapping[str, str], pk: UUID) -> datetime | None:
    """As `seen_at`."""
    return parse_time(sent.get(decided_name(pk), ""))


def times_of(sent: Mapping[str, str], pk: UUID) -> dict[str, datetime | None]:
    """Both, as `AdminAction.carry_out` takes them."""
    return {"seen_at": seen_at(sent, pk), "decided_at": decided_at(sent, pk)}


BATCH = 500
Columns = Mapping[str, Callable[[Any], object]]


class _Line:
    """What `csv.writer` writes to: it returns the line."""

    def write(self, line: str) -> str:
        return line


def csv_response(rows: QuerySet[Any], columns: Columns, *, name: str) -> StreamingHttpResponse:
    """All `rows`, oldest first, as an attachment. The batches are ordered by id, so each is read by the index."""
    response = StreamingHttpResponse(_lines(rows, columns), content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response


def _lines(rows: QuerySet[Any], columns: Columns) -> Iterator[str]:
    writer = csv.writer(_Line())
    yield writer.writerow(columns)
    for row in in_batches(rows, BATCH):
        yield writer.writerow([neutral_cell(read(row)) for read in columns.values()])
