"""A list of the admin as CSV, streamed in batches."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from django.db.models import QuerySet
from django.http import StreamingHttpResponse

from kernel.csv_cells import neutral_cell
from kernel.database.batches import in_batches

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
