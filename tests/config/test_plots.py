"""Plots: every drawing stays inside its picture, and has the numbers of its table."""

from __future__ import annotations

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from kernel.plots import Line, Plot, Series, days_until, values_of

TODAY = date(2026, 3, 2)
VALUES = st.lists(st.integers(0, 10**9), min_size=1, max_size=10)


def plot_of(*values: list[int]) -> Plot:
    days = days_until(TODAY, len(values[0]))
    return Plot("Posts", [Series("posts", dict(zip(days, one, strict=True))) for one in values], days)


def test_days_end_today_and_a_missing_day_counts_0() -> None:
    days = days_until(TODAY, 3)
    assert days == [date(2026, 2, 28), date(2026, 3, 1), TODAY]
    assert values_of({TODAY: 4, date(2026, 2, 27): 9}, days) == [0, 0, 4]


@given(VALUES)
def test_a_line_stays_inside_its_picture(values: list[int]) -> None:
    for line in (Line(values), plot_of(values).line):
        points = [tuple(map(float, point.split(","))) for point in line.points.split()]
        assert line.total == sum(values)
        assert [x for x, _y in points] == [5.0 + 10 * at for at in range(len(values))]
        assert all(line.above <= y <= line.base < line.height for _x, y in points)
        assert max(values) == 0 or min(y for _x, y in points) == line.above


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), min_size=1, max_size=10))
def test_bars_are_stacked_inside_their_picture(values: list[tuple[int, int]]) -> None:
    plot = plot_of(*(list(one) for one in zip(*values, strict=True)))
    bases: dict[int, float] = {}
    for bar in plot.bars:
        base = bases.get(bar.x, float(plot.height))
        assert abs(bar.y + bar.height - base) < 0.1
        assert bar.y >= -0.1
        bases[bar.x] = bar.y
    assert plot.highest == max(map(sum, values))


def test_rows_are_the_newest_first_and_tooltips_have_their_texts() -> None:
    plot = Plot("Time", [Series("median", {TODAY: 12_345})], days_until(TODAY, 2), show="{} s".format)
    assert plot.rows == [(TODAY, ["12345 s"]), (date(2026, 3, 1), ["0 s"])]
    assert [column.texts for column in plot.columns] == [[("median", "0 s")], [("median", "12345 s")]]
    assert (plot.most, plot.keys) == ("12345 s", [(1, "median", "12345 s")])


def test_numbers_are_grouped() -> None:
    assert plot_of([1_234_567]).most == "1,234,567"
