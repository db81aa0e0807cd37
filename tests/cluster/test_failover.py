"""A primary that ends and a standby that is promoted: nothing acknowledged is lost, and the service goes on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

from tests.cluster.environment import ClusterEnvironment, a_clustered_service
from tests.faults.invariants import Verdict, judge, ledger
from tests.faults.load import Load, Notes
from tests.faults.run import Writers
from tests.remote import Remote
from tests.waiting import eventually

PAUSE_SECONDS = 0.02
LOST_ANSWERS = 0.05
# Any of these may take long on a busy machine, and none may wait for ever: a request of a worker that waits for a
# frozen server has STATEMENT_TIMEOUT and two seconds, then a new connection three for each host.
FROZEN_SECONDS = 5 + 2 + 3 * 3 + 30


@pytest.fixture(scope="module")
def environment() -> Iterator[ClusterEnvironment]:
    with a_clustered_service() as environment:
        yield environment


def test_a_failover_loses_and_doubles_no_write(
    environment: ClusterEnvironment, subtests: pytest.Subtests
) -> None:
    """One test, because starting the cluster dominates its duration."""
    writers = Writers.of(environment)
    for fault in (primary_killed, primary_stopped, primary_frozen):
        with subtests.test(fault.__name__):
            charged = ledger(environment)
            notes = play(environment, writers, fault)
            assert not notes.surprises
            assert set(notes.statuses) <= {200, 201, 409, 503}
            assert judge(environment, notes.writes, charged_before=charged) == Verdict()
            assert len(notes.writes) >= len(writers.tokens)
            assert notes.slowest < FROZEN_SECONDS


def play(environment: ClusterEnvironment, writers: Writers, fault: Callable[[ClusterEnvironment], None]) -> Notes:
    """Under load: the fault, a promotion, and at the end the old primary as a standby of the new one."""
    cluster, old = environment.cluster, environment.cluster.primary
    ports = [environment.service.port]
    load = Load(ports=ports, tokens=writers.tokens, page_id=writers.page_id, roots=writers.roots, pause=PAUSE_SECONDS)
    with load:
        load.lose_answers(LOST_ANSWERS)
        load.wait_until_healthy()
        fault(environment)
        cluster.promote()
        print(f"{fault.__name__}: back after {load.wait_until_healthy():.2f} s")
        cluster.rejoin(old)
        load.wait_until_healthy()
    return load.notes


def primary_killed(environment: ClusterEnvironment) -> None:
    environment.cluster.primary.kill()


def primary_stopped(environment: ClusterEnvironment) -> None:
    environment.cluster.primary.stop("fast")


def primary_frozen(environment: ClusterEnvironment) -> None:
    """It accepts connections and answers nothing. `/readyz` says so; then the operator ends it."""
    environment.cluster.primary.freeze()
    remote = Remote(environment.service.port)
    assert eventually(lambda: remote.call("GET", "/readyz").json["missing"] == ["database"])
    page = Remote(environment.service.port, timeout=FROZEN_SECONDS)
    refused = page.call("GET", f"/api/messages?pageId={'p1_' + 'a' * 32}&limit=1&q={time.monotonic()}")
    assert refused.status in (400, 404, 503)
    environment.cluster.primary.kill()
