"""`make cluster-faults`: puts faults into a whole cluster under load, and prints a table.

Writers repeat each write with its key until it is acknowledged, and read each post back. At the end of each kind, every
acknowledged write must be there once, and be replayed with the same response.
"""

from __future__ import annotations

import argparse
import math
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations, cycle

from tests.cluster import runs
from tests.cluster.network import can_cut
from tests.cluster.postgres import Place
from tests.cluster.runs import EXPLANATION, HEADINGS, Run
from tests.cluster.stack import Host, Stack
from tests.faults.environment import SETTINGS
from tests.faults.jobs import Stage
from tests.faults.load import PAUSE_SECONDS
from tests.faults.releases import NEXT_RELEASE, migration
from tests.faults.run import Writers
from tests.host_clock import moved

Fault = Callable[[Stack], None]
CUT_SECONDS = 3.0
AWAY_SECONDS = 0.5
HOUR = 3600
# From a promotion until every writer is served.
BACK_MAX_SECONDS = 5.0


def primary_killed(stack: Stack) -> None:
    """Killed; a standby is promoted, and the old primary comes back as a standby."""
    old = stack.postgres.primary
    old.kill()
    stack.promote()
    stack.later(lambda: stack.postgres.rejoin(old))


def primary_switched(stack: Stack) -> None:
    """Stopped in order, as for maintenance."""
    old = stack.postgres.primary
    old.stop()
    stack.promote()
    stack.later(lambda: stack.postgres.rejoin(old))


def switched_beside_jobs(stack: Stack) -> None:
    """A job of each kind is running, or waits."""
    jobs = Stage(stack.environment)
    begun = jobs.django("begin()")
    primary_switched(stack)
    jobs.wait(lambda waiting: not waiting)
    wrong = jobs.django(f"tell_wrong(**{begun})")
    assert not wrong, wrong


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
    stack.later(host.start)


def upgraded_one_by_one(stack: Stack) -> None:
    """The next release migrates, then each host changes over to it; back, the hosts come first."""
    with migration(stack.environment.service):
        pass
    for host in stack.hosts:
        _restart(host, host.environment | NEXT_RELEASE)
    for host in stack.hosts:
        _restart(host, host.environment | SETTINGS)
    with migration(stack.environment.service, "zero"):
        pass


def clocks_off(stack: Stack) -> None:
    """One host with a clock that is an hour ahead, another one with one that is an hour behind."""
    off = random.sample(stack.hosts, 2)
    usual = [host.environment for host in off]
    for host, hours in zip(off, (1, -1), strict=True):
        _restart(host, host.environment | moved(hours * HOUR))
    time.sleep(AWAY_SECONDS)
    for host, environment in zip(off, usual, strict=True):
        _restart(host, environment)


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
    switched_beside_jobs: 3,
    standby_killed: 30,
    redis_failed_over: 40,
    pooler_restarted: 45,
    # Each pair once.
    network_cut: 39,
    host_killed: 12,
    clocks_off: 4,
    upgraded_one_by_one: 3,
}
NEED_NETWORKS = {redis_failed_over, network_cut}
PROMOTIONS = {primary_killed, primary_switched}
# A host ends while it sends a response: nginx has passed on the beginning.
MAY_BREAK = {host_killed}


def play(stack: Stack, writers: Writers, fault: Fault, *, times: int, pause: float = PAUSE_SECONDS) -> Run:
    back_max = BACK_MAX_SECONDS if fault in PROMOTIONS else math.inf
    may_break = fault in MAY_BREAK
    return runs.play(stack, writers, fault, times=times, pause=pause, back_max=back_max, may_break=may_break)


def _restart(host: Host, environment: Mapping[str, str]) -> None:
    assert host.stop() == 0, host.said()
    host.environment = dict(environment)
    host.start()


_CYCLES: dict[int, Iterator[tuple[Place, Place]]] = {}


def _pairs(stack: Stack) -> Iterator[tuple[Place, Place]]:
    """Each pair of parts that talk to one another, in turn and without end; the proxy talks to hosts only."""
    if id(stack) not in _CYCLES:
        parts = [host.place for host in stack.hosts] + [redis.place for redis in stack.redis]
        parts += [stack.pooler.place] + [server.place for server in stack.postgres.servers]
        proxied = [(stack.proxy.place, host.place) for host in stack.hosts]
        _CYCLES[id(stack)] = cycle([*proxied, *combinations(parts, 2)])
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
    finished = []
    stack = Stack(cuts=has_networks, STREAMS="0")
    try:
        writers = Writers.of(stack.environment)
        _say(HEADINGS)
        for fault, times in chosen.items():
            if fault in NEED_NETWORKS and not has_networks:
                _say(f"{fault.__name__.replace('_', ' '):<22} skipped: network namespaces need root")
                continue
            finished.append(play(stack, writers, fault, times=times, pause=options.pause))
            _say(str(finished[-1]))
    finally:
        stack.close()
    faults, acknowledged = sum(len(run.recovered) for run in finished), sum(len(run.notes.writes) for run in finished)
    _say(f"{faults} faults, {acknowledged} acknowledged")
    _say(EXPLANATION)
    sys.exit(0 if all(run.is_good for run in finished) else 1)


def _say(text: str) -> None:
    sys.stdout.write(text.rstrip() + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
