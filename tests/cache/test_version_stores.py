"""Version stores: the file that processes share, and Redis, dead, frozen and flushed."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from redis import Redis

from kernel.cache import circuit_breaker
from kernel.cache.circuit_breaker import CircuitBreaker
from kernel.cache.redis_store import RedisVersionStore
from kernel.cache.shared_memory import SLOTS, SharedMemoryVersionStore, slot_of
from kernel.cache.versions import VersionStore
from tests.conftest import start_redis
from tests.waiting import PATIENCE_SECONDS, eventually

PAGE, OTHER = ("page:p1_a",), ("page:p1_b",)


@pytest.fixture
def in_memory(tmp_path: Path) -> Callable[[], VersionStore]:
    return lambda: SharedMemoryVersionStore(tmp_path / "data" / "versions")


@pytest.fixture
def in_redis(redis_url: str) -> Callable[[], VersionStore]:
    Redis.from_url(redis_url).flushall()
    return lambda: RedisVersionStore(redis_url)


@pytest.fixture(params=["in_memory", pytest.param("in_redis", marks=pytest.mark.processes)])
def stores(request: pytest.FixtureRequest) -> tuple[VersionStore, VersionStore]:
    """The stores of two processes."""
    make = request.getfixturevalue(request.param)
    return make(), make()


def test_a_bump_changes_the_version_of_its_tag_in_every_process(stores: tuple[VersionStore, VersionStore]) -> None:
    here, there = stores
    page, other = here.read(PAGE), here.read(OTHER)
    assert there.read(PAGE) == page
    there.bump(PAGE)
    assert here.read(PAGE) not in {page, None}
    assert here.read(PAGE) == there.read(PAGE)
    assert here.read(OTHER) == other
    seen = set()
    for _ in range(200):
        here.bump(PAGE)
        seen.add(there.read(PAGE))
    assert len(seen) == 200, "versions do not repeat"


@pytest.mark.processes
def test_another_process_shares_the_file(in_memory: Callable[[], VersionStore], tmp_path: Path) -> None:
    before = in_memory().read(PAGE)
    program = (
        "from pathlib import Path; from kernel.cache.shared_memory import SharedMemoryVersionStore;"
        f"SharedMemoryVersionStore(Path({str(tmp_path / 'data' / 'versions')!r})).bump({PAGE!r})"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    assert in_memory().read(PAGE) != before


def test_without_the_file_the_store_is_unavailable_and_raises_nothing(tmp_path: Path) -> None:
    (tmp_path / "versions").mkdir()
    store = SharedMemoryVersionStore(tmp_path / "versions")
    store.bump(PAGE)
    assert (store.is_available(), store.read(PAGE)) == (False, None)


def test_slots_are_the_same_in_every_process() -> None:
    assert slot_of("page:p1_a") == 1173
    assert all(0 <= slot_of(f"page:{n}") < SLOTS for n in range(1_000))


@pytest.mark.processes
def test_a_flush_does_not_restore_an_old_version(redis_url: str, in_redis: Callable[[], VersionStore]) -> None:
    store = in_redis()
    before = store.read(PAGE)
    Redis.from_url(redis_url).flushall()
    assert store.read(PAGE) not in {before, None}


@pytest.mark.processes
def test_a_frozen_redis_costs_one_time_out_and_gets_the_bumps_later(tmp_path: Path) -> None:
    url = f"unix://{tmp_path}/redis.sock"
    server = start_redis(tmp_path)
    try:
        here, there = RedisVersionStore(url), RedisVersionStore(url)
        before = here.read(PAGE)
        os.kill(server.pid, signal.SIGSTOP)
        durations = []
        for call in (lambda: here.bump(PAGE), lambda: here.bump(OTHER), lambda: here.read(PAGE)):
            began = time.monotonic()
            call()
            durations.append(time.monotonic() - began)
        assert (here.is_available(), here.read(PAGE)) == (False, None)
        # Only the first call has waited.
        assert durations[0] > sum(durations[1:])
        os.kill(server.pid, signal.SIGCONT)
        # When the breaker closes.
        assert eventually(lambda: here.read(PAGE) not in {before, None})
        assert there.read(PAGE) == here.read(PAGE)
    finally:
        # A stopped process ends too.
        server.kill()
        server.wait(PATIENCE_SECONDS)
    there.bump(PAGE)
    assert (there.is_available(), there.read(PAGE)) == (False, None)


def test_a_breaker_closes_after_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    breaker, now = CircuitBreaker(5, effect="calls are skipped"), 100.0
    monkeypatch.setattr(circuit_breaker, "time", SimpleNamespace(monotonic=lambda: now))
    assert not breaker.is_open()
    breaker.open(OSError())
    now = 104.9
    assert breaker.is_open()
    now = 105.1
    assert not breaker.is_open()


def test_an_open_breaker_logs_no_further_error(caplog: pytest.LogCaptureFixture) -> None:
    breaker = CircuitBreaker(60, effect="calls are skipped")
    with caplog.at_level(logging.WARNING):
        breaker.open(TimeoutError())
        breaker.open(TimeoutError())
    assert caplog.messages == ["Redis does not answer (TimeoutError): calls are skipped."]
