"""The numbers of posts of an account by day, for its export, and their removal."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from desk.models import DailyCount, Top
from kernel.personal_data import Section, Subject


def sections(account_id: UUID) -> Iterable[Section]:
    rows = DailyCount.objects.filter(subject_id=account_id)
    about = "How many posts you wrote on each of the last days, and how often they were reported."
    yield Section("daily_counts", about, rows, rows.order_by("kind", "day").values("kind", "day", "count"))


def erase(subject: Subject) -> int:
    """The totals stay: they tell nothing of an account."""
    ids = subject.account_ids
    return sum(model.objects.filter(subject_id__in=ids).delete()[0] for model in (DailyCount, Top))
