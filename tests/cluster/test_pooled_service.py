"""Failovers under load of a service with a PgBouncer beside each server, and a Redis that sentinels name."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

import pytest
from redis import Redis

from tests.cluster.environment import ClusterEnvironment, a_clustered_service
from tests.cluster.redis_cluster import RedisCluster
from tests.cluster.runs import STALE_MAX_SECONDS
from tests.faults.invariants import Verdict, judge, ledger
from tests.faults.load import Load
from tests.faults.notes import Notes
from tests.faults.run import Writers
from tests.pgbouncer import needs_pgbouncer
from tests.waiting import eventually

pytestmark = [pytest.mark.slow, needs_pgbouncer, pytest.mark.processes]
PAUSE_SECONDS = 0.05
LOST_ANSWERS = 0.05
WRITERS = 3


def test_failovers_behind_poolers_and_of_redis_lose_and_double_no_write_and_show_no_old_post() -> None:
    """The way back to a server that was a dead primary is in test_sessions.py."""
    with ExitStack() as running:
        redis = RedisCluster()
        running.callback(redis.close)
        environment = running.enter_context(
            a_clustered_service(pooled=True, standbys=1, REDIS_URL=redis.url, WORKERS="1")
        )
        writers, charged = Writers.of(environment), ledger(environment)
        notes = play(environment, writers, [lambda: promote(environment), lambda: fail_over(redis)])
        assert not notes.surprises
        assert not notes.broken
        assert notes.stale <= STALE_MAX_SECONDS
        assert len(notes.writes) >= WRITERS * 3
        assert judge(environment, notes.writes, charged_before=charged) == Verdict()
        assert eventually(lambda: keys(redis.master_port()) > 0), "the service uses the promoted one"


def promote(environment: ClusterEnvironment) -> None:
    """With a single standby, the promoted server has none until the old one is back."""
    cluster, old = environment.cluster, environment.cluster.primary
    old.kill()
    cluster.promote()
    cluster.rejoin(old)
    # A session of before would read there, as the document says.
    environment.poolers[old.name].kill()
    environment.poolers[old.name].start(old)


def fail_over(redis: RedisCluster) -> None:
    old = redis.master_port()
    redis.processes[old].kill()
    redis.wait_for_failover(old)


def keys(port: int) -> int:
    """How many the Redis at this port has."""
    return len(Redis(port=port).keys())


def play(environment: ClusterEnvironment, writers: Writers, faults: list[Callable[[], None]]) -> Notes:
    load = Load(
        ports=[environment.service.port],
        tokens=writers.tokens[:WRITERS],
        page_id=writers.page_id,
        roots=writers.roots,
        pause=PAUSE_SECONDS,
    )
    with load:
        load.lose_answers(LOST_ANSWERS)
        load.wait_until_healthy()
        for fault in faults:
            fault()
            load.wait_until_healthy()
    return load.notes
