"""Plots of daily counts as inline SVG: no script, no inline style. A table with the same numbers belongs to each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

STEP, HEIGHT, TOP = 20, 120, 4
# The classes `series-1` … of the stylesheet.
SERIES_MAX = 4


@dataclass(frozen=True, slots=True)
class Series:
    """Counts by day; a day that is missing counts 0."""

    label: str
    counts: Mapping[date, int]

    @property
    def total(self) -> int:
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class Line:
    """`points` is the attribute of a polyline."""

    number: int
    series: Series
    points: str


@dataclass(frozen=True, slots=True)
class Column:
    """The area of one day, whose tooltip has its counts."""

    x: int
    day: date
    counts: Sequence[tuple[str, int]]


class Plot:
    """Up to SERIES_MAX series over the days `first` to `last`, for the template tag `plot`."""

    def __init__(self, title: str, *, first: date, last: date, series: Sequence[Series]) -> None:
        self.title, self.first, self.last, self.series = title, first, last, series[:SERIES_MAX]
        self.days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
        self.highest = max((count for one in self.series for count in one.counts.values()), default=0)

    @property
    def width(self) -> int:
        return STEP * len(self.days)

    @property
    def full_height(self) -> int:
        return TOP + HEIGHT + 1

    @property
    def base(self) -> int:
        return TOP + HEIGHT

    @property
    def lines(self) -> list[Line]:
        return [Line(number, one, self._points(one)) for number, one in enumerate(self.series, 1)]

    @property
    def columns(self) -> list[Column]:
        return [
            Column(index * STEP, day, [(one.label, one.counts.get(day, 0)) for one in self.series])
            for index, day in enumerate(self.days)
        ]

    @property
    def rows(self) -> list[tuple[date, list[int]]]:
        """(day, its count in each series), newest first."""
        return [(day, [one.counts.get(day, 0) for one in self.series]) for day in reversed(self.days)]

    def _points(self, series: Series) -> str:
        scale = HEIGHT / max(self.highest, 1)
        heights = (self.base - series.counts.get(day, 0) * scale for day in self.days)
        return " ".join(f"{STEP // 2 + index * STEP},{height:.1f}" for index, height in enumerate(heights))
