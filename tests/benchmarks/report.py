"""The table of a run."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from statistics import median

from tests.benchmarks.scenarios import Scenario
from tests.benchmarks.wrk import Result

HEAD = ("scenario", "a second", "p50 ms", "p99 ms", "bytes", "cpu µs", "bare", "bare µs", "ratio", "minimum")
LINE = "{:<28}{:>10}{:>9}{:>9}{:>8}{:>8}{:>9}{:>9}{:>8}{:>8}  {}"


@dataclass(frozen=True, slots=True)
class Round:
    """One run of wrk, and the processor time of server and PostgreSQL per request, in microseconds."""

    result: Result
    processor: float


@dataclass(frozen=True, slots=True)
class Measured:
    scenario: Scenario
    ours: list[Round]
    bare: list[Round]
    # Rounds of the scenario `of`, if there is one.
    other: list[Round]

    @property
    def rate(self) -> float:
        return median(each.result.rate for each in self.ours)


class Table:
    """Prints each row at once, so that an interrupted run shows its results."""

    def __init__(self) -> None:
        self.is_met = True
        _print(LINE.format(*HEAD, "").rstrip())

    def add(self, row: Measured) -> None:
        ratio, minimum = _ratio(row), row.scenario.at_least
        fails = minimum is not None and (ratio is None or ratio < minimum)
        self.is_met = self.is_met and not fails
        _print(_line(row, ratio, "FAILS" if fails else ""))


def _ratio(row: Measured) -> float | None:
    """The median of the ratios of the rounds: other load on the machine affects both sides of a round."""
    against = row.other or row.bare
    pairs = zip(row.ours, against, strict=True) if against else ()
    ratios = [ours.result.rate / measure.result.rate for ours, measure in pairs]
    return median(ratios) if ratios else None


def _line(row: Measured, ratio: float | None, verdict: str) -> str:
    ours = sorted(row.ours, key=lambda each: each.result.rate)[len(row.ours) // 2]
    failed = sum(each.result.failed for each in row.ours + row.bare)
    return LINE.format(
        row.scenario.name,
        f"{row.rate:,.0f}",
        f"{ours.result.p50 / 1000:.1f}",
        f"{ours.result.p99 / 1000:.1f}",
        ours.result.size,
        f"{median(each.processor for each in row.ours):,.0f}",
        f"{median(each.result.rate for each in row.bare):,.0f}" if row.bare else "",
        f"{median(each.processor for each in row.bare):,.0f}" if row.bare else "",
        "" if ratio is None else f"{ratio:.2f}",
        "" if row.scenario.at_least is None else f"{row.scenario.at_least:.2f}",
        f"{verdict} {failed} requests failed" if failed else verdict,
    ).rstrip()


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
