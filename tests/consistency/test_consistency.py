"""A read that begins after a write is acknowledged shows it, on every worker and host, also if Redis fails.

CONSISTENCY_SECONDS is the duration of each of the three runs (20 with `make consistency`).
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from config.secrets import NAMES
from tests.clients import Clients
from tests.consistency.checkers import ConsistencyChecker, Subject
from tests.consistency.subjects import subjects_of
from tests.faults.environment import SETTINGS, freeze, thaw
from tests.redis_server import start_redis
from tests.service import Service

pytestmark = [pytest.mark.slow, pytest.mark.processes]

SECONDS = float(os.environ.get("CONSISTENCY_SECONDS", "1.7"))
WRITERS, READERS = 3, 6
# Hosts of one service have the same secrets.
SECRETS = {name: f"{name.lower()}-of-the-consistency-tests-{'0' * 32}" for name in NAMES}


@dataclass(frozen=True, slots=True)
class Hosts:
    """One host with its PostgreSQL, and the subjects. `running` closes further hosts."""

    home: Path
    host: Service
    subjects: list[Subject]
    running: ExitStack

    def more_hosts(self, **shared: str) -> list[Service]:
        """Two hosts that share the database and `shared`, but no memory."""
        shared |= {"DATABASE_URL": self.host.cluster.url, "WORKERS": "1"}
        return [start(self.running, self.home / name, **shared) for name in ("second", "third")]


@pytest.fixture(scope="module")
def hosts_under_test() -> Iterator[Hosts]:
    home = Path(tempfile.mkdtemp(prefix="cm-consistency-"))
    with ExitStack() as running:
        running.callback(shutil.rmtree, home, ignore_errors=True)
        host = start(running, home / "first", WORKERS="2")
        yield Hosts(home, host, subjects_of(Clients(host)), running)


def test_reads_show_acknowledged_writes_on_two_workers(hosts_under_test: Hosts) -> None:
    run(ConsistencyChecker([hosts_under_test.host.port], hosts_under_test.subjects))


def test_reads_show_acknowledged_writes_on_two_hosts_while_redis_fails(hosts_under_test: Hosts) -> None:
    (hosts_under_test.home / "redis").mkdir()
    redis = start_redis(hosts_under_test.home / "redis")
    hosts_under_test.running.callback(lambda: (redis.kill(), redis.wait()))
    hosts = hosts_under_test.more_hosts(REDIS_URL=f"unix://{hosts_under_test.home}/redis/redis.sock")
    ports = [host.port for host in hosts]
    run(ConsistencyChecker(ports, hosts_under_test.subjects))

    def fail_redis() -> None:
        nonlocal redis
        time.sleep(SECONDS / 8)
        freeze(redis)
        time.sleep(SECONDS / 4)
        thaw(redis)
        time.sleep(SECONDS / 4)
        redis.kill()
        redis.wait()
        time.sleep(SECONDS / 8)
        redis = start_redis(hosts_under_test.home / "redis")

    run(ConsistencyChecker(ports, hosts_under_test.subjects), fail_redis)


def start(running: ExitStack, data: Path, **environment: str) -> Service:
    service = Service(data, **SETTINGS, **SECRETS, **environment)
    running.callback(service.close)
    service.copy_template()
    service.start()
    return service


def run(checker: ConsistencyChecker, meanwhile: Callable[[], None] = lambda: None) -> None:
    checker.warm_up()
    before = checker.writes
    checker.watch(SECONDS, writers=WRITERS, readers=READERS, meanwhile=meanwhile)
    assert not checker.stale, checker.stale[:5]
    assert not checker.failed
    # Low enough for a busy machine, with Redis unavailable for a third of the time.
    assert checker.reads.total() > 10 * SECONDS
    assert checker.writes > before
