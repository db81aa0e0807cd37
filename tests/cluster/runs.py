"""One kind of fault in a cluster under load, and its row in the table of `make cluster-faults`."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.cluster.stack import Stack
from tests.faults.invariants import Verdict, judge, ledger
from tests.faults.load import PAUSE_SECONDS, Load
from tests.faults.notes import Notes
from tests.faults.run import Writers

LOST_ANSWERS = 0.05
# Documented: two seconds with Redis, and a second for a standby. The read that was cached may have taken a second.
STALE_MAX_SECONDS = 4.0
# A slower request is printed, with what the proxy says about it.
SLOW_SECONDS = 5.0
LAYOUT = "{:<22}{:>6}{:>14}{:>6}{:>9}{:>9}{:>7}{:>8}{:>15}{:>13}{:>10}{:>10}{:>10}"
HEADINGS = LAYOUT.format(
    *("kind", "times", "acknowledged", "lost", "doubled", "altered", "503", "broken", "worst request", "worst write"),
    *("back p50", "back max", "stale"),
)
EXPLANATION = """
lost, doubled, altered: acknowledged writes that are missing, are stored twice, or are replayed with another response.
503, broken: requests with a 503, or without a response; the writers repeated them with the same key.
worst request: the longest wait for one response. worst write: from the first request to the acknowledgement.
back: from the end of a fault, of a failover from the promotion, until every writer was served again.
stale: the longest time after which a read did not show an acknowledged write."""


@dataclass(slots=True)
class Run:
    """`recovered`: seconds from the end of each fault until every writer was served again, at most `back_max`.

    `may_break`: whether connections may be closed without an answer. `said`: of the proxy about the slowest request.
    """

    kind: str
    back_max: float
    may_break: bool
    recovered: list[float] = field(default_factory=list)
    notes: Notes = field(default_factory=Notes)
    verdict: Verdict = field(default_factory=Verdict)
    said: str = ""

    @property
    def is_good(self) -> bool:
        notes = self.notes
        is_kept = self.verdict == Verdict() and not notes.surprises and notes.stale <= STALE_MAX_SECONDS
        return is_kept and max(self.recovered) <= self.back_max and (self.may_break or not notes.broken)

    def __str__(self) -> str:
        notes, verdict = self.notes, self.verdict
        lines = [
            LAYOUT.format(
                *(self.kind, len(self.recovered), len(notes.writes), verdict.lost, verdict.doubled, verdict.altered),
                *(notes.statuses[503], len(notes.broken), f"{notes.slowest:.2f} s", f"{notes.longest:.2f} s"),
                *(f"{statistics.median(self.recovered):.2f} s", f"{max(self.recovered):.2f} s", f"{notes.stale:.2f} s"),
            )
        ]
        if not self.is_good:
            lines += [str(verdict), *notes.surprises[:5], *notes.broken[:5]]
        if not self.is_good or notes.slowest > SLOW_SECONDS:
            lines += [f"slowest: {notes.slowest_request}", f"the proxy: {self.said}"]
            lines += [f"the longest time for which the load itself stood still: {notes.stalled:.2f} s"]
        return "\n    ".join(lines)


def play(
    stack: Stack,
    writers: Writers,
    fault: Callable[[Stack], None],
    *,
    times: int,
    pause: float = PAUSE_SECONDS,
    back_max: float,
    may_break: bool,
) -> Run:
    """Inject the fault at random moments, each time when the service is healthy again."""
    environment = stack.environment
    charged = ledger(environment)
    run = Run(fault.__name__.replace("_", " "), back_max, may_break)
    ports = [stack.proxy.port]
    load = Load(ports=ports, tokens=writers.tokens, page_id=writers.page_id, roots=writers.roots, pause=pause)
    with load:
        load.lose_answers(LOST_ANSWERS)
        load.wait_until_healthy()
        for _ in range(times):
            time.sleep(random.uniform(0, 0.3))
            fault(stack)
            run.recovered.append(load.wait_until_healthy())
            stack.repair()
            load.wait_until_healthy()
    run.notes = load.notes
    run.said = stack.proxy.said_about(load.notes.slowest_id)
    run.verdict = judge(environment, load.notes.writes, charged_before=charged)
    return run
