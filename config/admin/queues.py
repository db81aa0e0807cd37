from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from config.admin.paginator import bounded_count


@dataclass(frozen=True, slots=True)
class QueueSummary:
    """A queue: how many wait (counted so far), since when the oldest does, and where they are listed."""

    label: str
    count: str
    since: datetime | None
    url: str

    @classmethod
    def of(cls, label: str, rows: QuerySet[Any], url: str) -> QueueSummary:
        oldest = rows.order_by("created_at").values_list("created_at", flat=True).first()
        return cls(label, bounded_count(rows), oldest, url)
