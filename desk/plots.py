"""Plots of 30 days as inline SVG without scripts and styles: stacked bars, and lines for lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from desk.rolling.days import DAYS

STEP, BAR, HEIGHT = 10, 8, 96
SPARK_STEP, SPARK_HEIGHT = 4, 24
# The classes `series-1` … of the stylesheet.
SERIES_MAX = 5
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
class Bar:
    """A part of a column; `number` is that of its series."""

    number: int
    x: int
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class Column:
    """The area of a day, whose tooltip has its counts."""

    x: int
    day: date
    counts: Sequence[tuple[str, str]]


class Plot:
    """Up to SERIES_MAX series of the DAYS days until `today`. `name` is an id for the page.

    `unit` is what the numbers are of, in the plural; `shown` makes them readable.
    """

    width, height = STEP * DAYS, HEIGHT
    # The sum of the days means something.
    has_totals = True

    def __init__(self, name: str, title: str, series: Sequence[Series], *, today: date, unit: str = "") -> None:
        self.name, self.title, self.unit = name, title, unit
        self.series = list(series[:SERIES_MAX])
        self.days = days_until(today)
        self.highest = max((sum(one.counts.get(day, 0) for one in self.series) for day in self.days), default=0)

    @property
    def first(self) -> date:
        return self.days[0]

    @property
    def last(self) -> date:
        return self.days[-1]

    @property
    def total(self) -> int:
        return sum(one.total for one in self.series)

    @property
    def keys(self) -> list[tuple[int, str, str]]:
        """(number, label, total) of each series."""
        return [(number, one.label, self.shown(one.total)) for number, one in enumerate(self.series, 1)]

    @property
    def most(self) -> str:
        return self.shown(self.highest)

    @property
    def bars(self) -> list[Bar]:
        scale = HEIGHT / max(self.highest, 1)
        bars = []
        for index, day in enumerate(self.days):
            base = float(HEIGHT)
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

    def shown(self, number: int) -> str:
        return f"{number:,}"

    def _texts(self, day: date) -> list[tuple[str, str]]:
        return [(one.label, self.shown(one.counts.get(day, 0))) for one in self.series]


class LevelPlot(Plot):
    """Of a number at the end of each day."""

    has_totals = False


class DurationPlot(LevelPlot):
    """Of seconds."""

    def shown(self, number: int) -> str:
        return duration(number)


@dataclass(frozen=True, slots=True)
class Spark:
    """A small line. `points` is the attribute of a polyline."""

    points: str
    width: int = SPARK_STEP * DAYS
    height: int = SPARK_HEIGHT


def spark(counts: Counts, *, today: date) -> Spark:
    values = [counts.get(day, 0) for day in days_until(today)]
    scale = (SPARK_HEIGHT - 4) / max(*values, 1)
    points = (
        f"{index * SPARK_STEP + SPARK_STEP // 2},{SPARK_HEIGHT - 2 - value * scale:.1f}"
        for index, value in enumerate(values)
    )
    return Spark(" ".join(points))


def days_until(today: date) -> list[date]:
    return [today - timedelta(days=number) for number in reversed(range(DAYS))]


def duration(seconds: int) -> str:
    """`40 s`, `12 min`, `3 h`, `2 days`."""
    for size, name in ((172_800, "days"), (5_400, "h"), (90, "min")):
        if seconds >= size:
            unit = {"days": 86_400, "h": 3_600, "min": 60}[name]
            return f"{round(seconds / unit)} {name}"
    return f"{seconds} s"
