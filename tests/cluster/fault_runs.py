"""`make cluster-faults`: puts faults into a whole cluster under load, and prints a table.

Writers repeat each write with its key until it is acknowledged, and read each post back. At the end of each kind, every
acknowledged write must be there once, and be replayed with the same response.
"""

from __future__ import annotations

import argparse
import random
import signal
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations, cycle

from tests.cluster.network import can_cut
from tests.cluster.postgres import Place
from tests.cluster.stack import CLOCK, Stack
from tests.faults.invariants import Verdict, judge, ledger
from tests.faults.load import PAUSE_SECONDS, Load
from tests.faults.notes import Notes
from tests.faults.releases import migration
from tests.faults.run import Writers

Fault = Callable[[Stack], None]
CUT_SECONDS = 3.0
AWAY_SECONDS = 0.5
LOST_ANSWERS = 0.05
# Documented: two seconds with Redis, and a second for a standby. The read that was cached may have taken a second.
STALE_MAX_SECONDS = 4.0
LAYOUT = "{:<22}{:>6}{:>14}{:>6}{:>9}{:>9}{:>7}{:>8}{:>10}{:>10}{:>10}"
HEADINGS = LAYOUT.format(
    *("kind", "times", "acknowledged", "lost", "doubled", "altered", "503", "broken"),
    *("back p50", "back max", "stale"),
)


def primary_killed(stack: Stack) -> None:
    """Killed; a standby is promoted, and the old primary comes back as a standby."""
    old = stack.postgres.primary
    old.kill()
    stack.promote()
    _later(stack, lambda: stack.postgres.rejoin(old))


def primary_switched(stack: Stack) -> None:
    """Stopped in order, as for maintenance."""
    old = stack.postgres.primary
    old.stop()
    stack.promote()
    _later(stack, lambda: stack.postgres.rejoin(old))


def standby_killed(stack: Stack) -> None:
    standby = random.choice(stack.postgres.standbys)
    standby.kill()
    time.sleep(AWAY_SECONDS)
    standby.start()
    stack.postgres.wait_for_standbys()


def pooler_restarted(stack: Stack) -> None:
    stack.pooler.kill()
    time.sleep(random.uniform(0, AWAY_SECONDS))
    stack.pooler.start(stack.postgres.primary)


def redis_failed_over(stack: Stack) -> None:
    stack.fail_over_redis()


def host_killed(stack: Stack) -> None:
    host = random.choice(stack.hosts)
    host.kill()
    _later(stack, host.start)


def upgraded_one_by_one(stack: Stack) -> None:
    """The next release migrates, and each host is stopped and started; then back."""
    for target in ((), ("zero",)):
        with migration(stack.environment.service, *target):
            pass
        for host in stack.hosts:
            assert host.stop() == 0, host.said()
            host.start()


def clock_ahead(stack: Stack) -> None:
    """One host with a clock that is an hour ahead."""
    host = random.choice(stack.hosts)
    usual = host.environment
    for environment in (usual | CLOCK, usual):
        assert host.stop() == 0, host.said()
        host.environment = environment
        host.start()
        time.sleep(AWAY_SECONDS)


def network_cut(stack: Stack) -> None:
    """Between two parts: each pair in turn."""
    assert stack.network
    one, other = next(_pairs(stack))
    with stack.network.cut(one, other):
        time.sleep(CUT_SECONDS)


# Those that start hosts take longest.
FAULTS: dict[Fault, int] = {
    primary_killed: 35,
    primary_switched: 15,
    standby_killed: 30,
    redis_failed_over: 40,
    pooler_restarted: 45,
    network_cut: 36,
    host_killed: 12,
    clock_ahead: 4,
    upgraded_one_by_one: 3,
}
NEED_NETWORKS = {redis_failed_over, network_cut}
# A host ends while it sends a response: nginx has passed on the beginning.
MAY_BREAK = {host_killed}


@dataclass(slots=True)
class Run:
    """`recovered`: seconds from the end of each fault until every writer was served again.

    `may_break`: whether connections may be closed without an answer.
    """

    kind: str
    may_break: bool = False
    recovered: list[float] = field(default_factory=list)
    notes: Notes = field(default_factory=Notes)
    verdict: Verdict = field(default_factory=Verdict)

    @property
    def is_good(self) -> bool:
        notes = self.notes
        is_answered = self.may_break or not notes.broken
        return self.verdict == Verdict() and not notes.surprises and is_answered and notes.stale <= STALE_MAX_SECONDS

    def __str__(self) -> str:
        counts = (len(self.notes.writes), self.verdict.lost, self.verdict.doubled, self.verdict.altered)
        text = LAYOUT.format(
            *(self.kind, len(self.recovered), *counts, self.notes.statuses[503], len(self.notes.broken)),
            f"{statistics.median(self.recovered):.2f} s",
            *(f"{max(self.recovered):.2f} s", f"{self.notes.stale:.2f} s"),
        )
        details = [str(self.verdict), *self.notes.surprises[:5], *self.notes.broken[:5], self.notes.slowest_request]
        return text if self.is_good else "\n    ".join([text, *details])


def play(stack: Stack, writers: Writers, fault: Fault, *, times: int, pause: float = PAUSE_SECONDS) -> Run:
    """Inject the fault at random moments, each time when the service is healthy again."""
    environment = stack.environment
    charged = ledger(environment)
    run = Run(fault.__name__.replace("_", " "), may_break=fault in MAY_BREAK)
    load = Load(ports=[stack.port], tokens=writers.tokens, page_id=writers.page_id, roots=writers.roots, pause=pause)
    with load:
        load.lose_answers(LOST_ANSWERS)
        load.wait_until_healthy()
        for _ in range(times):
            time.sleep(random.uniform(0, 0.3))
            fault(stack)
            run.recovered.append(load.wait_until_healthy())
            for work in _AFTERWARDS.pop(id(stack), []):
                work()
            load.wait_until_healthy()
    run.notes = load.notes
    run.verdict = judge(environment, load.notes.writes, charged_before=charged)
    return run


# What is done when the service is back: it must not need it.
_AFTERWARDS: dict[int, list[Callable[[], None]]] = {}
_CYCLES: dict[int, Iterator[tuple[Place, Place]]] = {}


def _later(stack: Stack, work: Callable[[], None]) -> None:
    _AFTERWARDS.setdefault(id(stack), []).append(work)


def _pairs(stack: Stack) -> Iterator[tuple[Place, Place]]:
    """Each pair of parts that talk to one another, in turn and without end."""
    if id(stack) not in _CYCLES:
        parts = [*stack.postgres.servers, stack.pooler, *stack.redis, *stack.hosts]
        _CYCLES[id(stack)] = cycle(combinations([part.place for part in parts], 2))
    return _CYCLES[id(stack)]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.cluster.fault_runs", description=__doc__)
    names = [fault.__name__ for fault in FAULTS]
    parser.add_argument("kinds", nargs="*", default=names, help=f"of {', '.join(names)}; default: all")
    parser.add_argument("--times", type=int, help="how often to inject each kind, instead of its default")
    parser.add_argument("--pause", type=float, default=PAUSE_SECONDS, help="average seconds between a writer's writes")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    has_networks = can_cut()
    chosen = {fault: options.times or times for fault, times in FAULTS.items() if fault.__name__ in options.kinds}
    runs = []
    stack = Stack(cuts=has_networks, STREAMS="0")
    try:
        writers = Writers.of(stack.environment)
        _say(HEADINGS)
        for fault, times in chosen.items():
            if fault in NEED_NETWORKS and not has_networks:
                _say(f"{fault.__name__.replace('_', ' '):<22} skipped: network namespaces need root")
                continue
            runs.append(play(stack, writers, fault, times=times, pause=options.pause))
            _say(str(runs[-1]))
    finally:
        stack.close()
    _say(f"{sum(len(run.recovered) for run in runs)} faults, {sum(len(run.notes.writes) for run in runs)} acknowledged")
    sys.exit(0 if all(run.is_good for run in runs) else 1)


def _say(text: str) -> None:
    sys.stdout.write(text.rstrip() + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
