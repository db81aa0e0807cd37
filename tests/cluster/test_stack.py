"""A whole cluster: some of the faults of `make cluster-faults`, and what `make cluster` leaves."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.__main__ import text
from tests.cluster.fault_runs import (
    NEED_NETWORKS,
    Fault,
    network_cut,
    play,
    pooler_restarted,
    primary_killed,
    redis_failed_over,
)
from tests.cluster.network import can_cut
from tests.cluster.stack import Stack
from tests.faults.run import Writers
from tests.nginx import needs_nginx
from tests.pgbouncer import needs_pgbouncer
from tests.redis_server import program as redis_program

pytestmark = [pytest.mark.slow, needs_nginx, needs_pgbouncer, pytest.mark.processes]
PAUSE_SECONDS = 0.05
# One host uses the pooler, the other one does not.
HOSTS = 2
FAULTS: list[Fault] = [primary_killed, pooler_restarted, redis_failed_over, network_cut]


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    assert redis_program()
    started = Stack(cuts=can_cut(), hosts=HOSTS, STREAMS="0")
    try:
        yield started
    finally:
        started.close()
        assert not started.home.exists()
        assert not started.postgres.home.exists()
        assert not list(Path("/run/netns").glob(f"cmc{os.getpid()}-*"))
        assert all(host.process and host.process.poll() is not None for host in started.hosts)


def test_faults_in_a_cluster_lose_and_double_no_write(stack: Stack, subtests: pytest.Subtests) -> None:
    """One test, because starting the cluster dominates its duration."""
    writers = Writers.of(stack.environment)
    for fault in FAULTS:
        if fault in NEED_NETWORKS and stack.network is None:
            continue
        with subtests.test(fault.__name__):
            run = play(stack, writers, fault, times=1, pause=PAUSE_SECONDS)
            assert run.is_good, str(run)
    addresses = text(stack)
    assert len(stack.hosts) == HOSTS
    assert all(f"{host.address}, " in addresses for host in stack.hosts)
