"""The table of a run."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from statistics import median

from tests.benchmarks.scenarios import Scenario
from tests.benchmarks.wrk import Result

HEAD = ("scenario", "a second", "p50 ms", "p99 ms", "bytes", "cpu µs", "bare", "bare µs", "ratio", "wanted")
LINE = "{:<28}{:>10}{:>9}{:>9}{:>8}{:>8}{:>9}{:>9}{:>8}{:>8}  {}"


@dataclass(frozen=True, slots=True)
class Round:
    """One run of wrk, and the processor time that server and PostgreSQL took for one request, in microseconds."""

    result: Result
    processor: float


@dataclass(frozen=True, slots=True)
class Measured:
    scenario: Scenario
    ours: list[Round]
    bare: list[Round]
    # Of the service's own scenario that it is measured against, if it is.
    other: list[Round]

    @property
    def rate(self) -> float:
        return median(each.result.rate for each in self.ours)


class Table:
    """Printed row by row, so that a run that is broken off has told what it knew."""

    def __init__(self) -> None:
        self.is_met = True
        _say(LINE.format(*HEAD, "").rstrip())

    def add(self, row: Measured) -> None:
        ratio, wanted = _ratio(row), row.scenario.at_least
        fails = wanted is not None and (ratio is None or ratio < wanted)
        self.is_met = self.is_met and not fails
        _say(_line(row, ratio, "FAILS" if fails else ""))


def _ratio(row: Measured) -> float | None:
    """The median of the rounds': what else runs on the machine weighs on both sides of each."""
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
        f"{verdict} {failed} answers failed" if failed else verdict,
    ).rstrip()


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
