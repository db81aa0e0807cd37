"""The numbers of a site: views, opens and posts by day, and how they compare with the period before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from embeds.analytics.ingest import OTHER, VIEW, VIEW_IN_PAGE, KnownEvent
from embeds.analytics.summary import Summary, summarize, table_of
from embeds.models import Embed
from kernel.csv_cells import neutral_cell
from kernel.plots import Plot, Series

PERIODS = (7, 30, 90)
DEFAULT_PERIOD = 30
PAGES_MAX = 20

VIEWS = (VIEW,)
# The steps of a reader, each with the events that count for it.
STEPS: tuple[tuple[str | Promise, str | Promise, tuple[KnownEvent, ...]], ...] = (
    (gettext_lazy("Views"), gettext_lazy("Views by day"), VIEWS),
    (gettext_lazy("Opened"), gettext_lazy("Opened by day"), (KnownEvent.PANEL_OPEN,)),
    (
        gettext_lazy("Posts and replies"),
        gettext_lazy("Posts and replies by day"),
        (KnownEvent.POST_CREATED, KnownEvent.REPLY_CREATED),
    ),
)


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of the period and that of the period before."""

    label: str
    now: int
    before: int

    @property
    def change(self) -> int | None:
        """In percent; None without a number before."""
        return round((self.now - self.before) * 100 / self.before) if self.before else None

    @property
    def fall(self) -> int:
        return -(self.change or 0)


@dataclass(frozen=True, slots=True)
class FunnelStep:
    """`share`: percent of the step before; None if that is 0 or smaller. `width`: percent of the largest step."""

    label: str
    count: int
    share: int | None
    width: int


class Numbers:
    """The last `days` days of a site."""

    def __init__(self, site: Embed, *, days: int, today: date) -> None:
        first = today - timedelta(days=days - 1)
        self.steps = [
            (str(label), str(title), (VIEW_IN_PAGE,) if site.is_inline and events == VIEWS else events)
            for label, title, events in STEPS
        ]
        self.days = days
        self.now = summarize(embed_id=site.pk, first=first, last=today)
        self.before = summarize(embed_id=site.pk, first=first - timedelta(days=days), last=first - timedelta(days=1))

    @property
    def figures(self) -> list[Figure]:
        now, before = self.now.counts, self.before.counts
        steps = [Figure(label, _sum(now, events), _sum(before, events)) for label, _title, events in self.steps]
        return [*steps, Figure(_("Visitors"), self.now.unique_visitors, self.before.unique_visitors)]

    @property
    def funnel(self) -> list[FunnelStep]:
        counts = [_sum(self.now.counts, events) for *_names, events in self.steps]
        steps, previous = [], 0
        for (label, *_rest), count in zip(self.steps, counts, strict=True):
            share = round(count * 100 / previous) if previous >= count and previous else None
            steps.append(FunnelStep(label, count, share, round(count * 100 / max(*counts, 1))))
            previous = count
        return steps

    @property
    def plots(self) -> list[Plot]:
        """One for each step: their numbers differ too much for one scale."""
        return [
            Plot(
                title,
                [Series(label, {day: _sum(counts, events) for day, counts in self.now.days.items()})],
                list(self.now.days),
            )
            for label, title, events in self.steps
        ]

    @property
    def pages(self) -> list[tuple[str, list[int]]]:
        """(path, number of each step) of the busiest pages; an empty path is all others."""
        rows = [
            (path, [_sum(counts, events) for *_names, events in self.steps])
            for path, counts in self.now.pages.items()
            if path != OTHER
        ]
        return [row for row in rows if any(row[1])][:PAGES_MAX]

    @property
    def is_empty(self) -> bool:
        return not self.now.counts and not self.before.counts


def chosen_period(text: str | None) -> int:
    return next((days for days in PERIODS if str(days) == text), DEFAULT_PERIOD)


def day_rows(summary: Summary) -> list[list[Any]]:
    return [_neutral_row(row) for row in table_of(summary)]


def page_rows(summary: Summary) -> list[list[Any]]:
    events = [event.value for event in KnownEvent]
    rows: list[list[Any]] = [[path, *(counts[event] for event in events)] for path, counts in summary.pages.items()]
    return [_neutral_row(row) for row in [["path", *events], *rows]]


def _neutral_row(row: Iterable[Any]) -> list[Any]:
    return [neutral_cell(cell) for cell in row]


def _sum(counts: Counter[str], events: Sequence[KnownEvent]) -> int:
    return sum(counts[event] for event in events)
