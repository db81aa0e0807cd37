"""Plots of numbers by day: coordinates of SVG, which templates draw without scripts and inline styles.

Drawings may be stretched to any width. Each plot has the rows of a table with the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from django.utils.formats import number_format

# The width of a day and of the bar in it.
STEP, BAR = 10, 8
Counts = Mapping[date, int]


@dataclass(frozen=True, slots=True)
class Series:
    """Counts by day; a missing day counts 0."""

    label: str
    counts: Counts

    @property
    def total(self) -> int:
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class Line:
    """Values from left to right. `points` is the attribute of a polyline, whose stroke has room above and below."""

    values: Sequence[int]
    height: int = 24
    above: int = 2
    below: int = 2

    @property
    def width(self) -> int:
        return STEP * len(self.values)

    @property
    def base(self) -> int:
        return self.height - self.below

    @property
    def total(self) -> int:
        return sum(self.values)

    @property
    def points(self) -> str:
        scale = (self.base - self.above) / max([1, *self.values])
        middles = range(STEP // 2, self.width, STEP)
        return " ".join(f"{x},{self.base - value * scale:.1f}" for x, value in zip(middles, self.values, strict=True))


@dataclass(frozen=True, slots=True)
class Bar:
    """A part of a column; `number` is that of its series."""

    number: int
    x: int
    y: float
    height: float
    width: int = BAR


@dataclass(frozen=True, slots=True)
class Column:
    """The area of a day, whose tooltip has its numbers: (label of a series, text)."""

    x: int
    day: date
    texts: Sequence[tuple[str, str]]
    width: int = STEP


def grouped(number: int) -> str:
    """`12,345`, as the language groups digits."""
    return number_format(number, force_grouping=True)


class Plot:
    """Series over the same days: as stacked bars, or the first one as a line.

    `show` makes a text of a number. `has_totals`: the sum over the days means something. `is_uncounted`: no number is
    known yet, so their absence says nothing.
    """

    height = 96

    def __init__(
        self,
        title: str,
        series: Sequence[Series],
        days: Sequence[date],
        *,
        show: Callable[[int], str] = grouped,
        has_totals: bool = True,
        is_uncounted: bool = False,
    ) -> None:
        self.title, self.series, self.days = title, series, days
        self.show, self.has_totals, self.is_uncounted = show, has_totals, is_uncounted
        self.highest = max((sum(one.counts.get(day, 0) for one in series) for day in days), default=0)
        self.has_totals &= bool(self.highest) or not is_uncounted

    @property
    def width(self) -> int:
        return STEP * len(self.days)

    @property
    def first(self) -> date:
        return self.days[0]

    @property
    def last(self) -> date:
        return self.days[-1]

    @property
    def most(self) -> str:
        return self.show(self.highest)

    @property
    def keys(self) -> list[tuple[int, str, str]]:
        """(number, label, total) of each series."""
        return [(number, one.label, self.show(one.total)) for number, one in enumerate(self.series, 1)]

    @property
    def line(self) -> Line:
        return Line(values_of(self.series[0].counts, self.days), height=125, above=4, below=1)

    @property
    def bars(self) -> list[Bar]:
        scale = self.height / max(self.highest, 1)
        bars = []
        for index, day in enumerate(self.days):
            base = float(self.height)
            for number, one in enumerate(self.series, 1):
                size = round(one.counts.get(day, 0) * scale, 1)
                if size:
                    base -= size
                    bars.append(Bar(number, index * STEP + (STEP - BAR) // 2, round(base, 1), size))
        return bars

    @property
    def columns(self) -> list[Column]:
        return [Column(index * STEP, day, self._texts(day)) for index, day in enumerate(self.days)]

    @property
    def rows(self) -> list[tuple[date, list[str]]]:
        """(day, its number in each series), newest first."""
        return [(day, [text for _label, text in self._texts(day)]) for day in reversed(self.days)]

    def _texts(self, day: date) -> list[tuple[str, str]]:
        return [(one.label, self.show(one.counts.get(day, 0))) for one in self.series]


def values_of(counts: Counts, days: Sequence[date]) -> list[int]:
    return [counts.get(day, 0) for day in days]


def days_until(today: date, number: int) -> list[date]:
    return [today - timedelta(days=ago) for ago in reversed(range(number))]
