from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from kernel.admin.paginator import bounded_count


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
