"""Failovers under load of a service with a PgBouncer beside each server, and a Redis that sentinels name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

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


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisCluster]:
    cluster = RedisCluster()
    yield cluster
    cluster.close()


@pytest.fixture(scope="module")
def environment(redis: RedisCluster) -> Iterator[ClusterEnvironment]:
    with a_clustered_service(pooled=True, standbys=1, REDIS_URL=redis.url, WORKERS="1") as environment:
        yield environment


@pytest.fixture(scope="module")
def writers(environment: ClusterEnvironment) -> Writers:
    return Writers.of(environment)


def test_a_promotion_behind_poolers_loses_and_doubles_no_write(
    environment: ClusterEnvironment, writers: Writers
) -> None:
    """There and back: the second one that is promoted has been a dead primary and a standby behind its pooler."""
    cluster = environment.cluster

    def promote() -> None:
        old = cluster.primary
        old.kill()
        # With a single standby, the promoted server has none until the old one is back.
        cluster.promote()
        cluster.rejoin(old)
        # As documented: a session of before would read there.
        environment.poolers[old.name].kill()
        environment.poolers[old.name].start(old)

    check(environment, writers, [promote, promote])


def test_a_failover_of_redis_loses_no_write_and_shows_no_old_post(
    environment: ClusterEnvironment, writers: Writers, redis: RedisCluster
) -> None:
    def fail_over() -> None:
        old = redis.master_port()
        redis.processes[old].kill()
        redis.wait_for_failover(old)

    check(environment, writers, [fail_over])
    assert eventually(lambda: keys(redis.master_port()) > 0), "the service uses the promoted one"


def keys(port: int) -> int:
    """How many the Redis at this port has."""
    return len(Redis(port=port).keys())


def check(environment: ClusterEnvironment, writers: Writers, faults: list[Callable[[], None]]) -> None:
    charged = ledger(environment)
    notes = play(environment, writers, faults)
    assert not notes.surprises
    assert not notes.broken
    assert notes.stale <= STALE_MAX_SECONDS
    assert len(notes.writes) >= WRITERS * (len(faults) + 1)
    assert judge(environment, notes.writes, charged_before=charged) == Verdict()


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
