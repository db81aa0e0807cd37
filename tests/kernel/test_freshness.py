"""Versions of subjects: the file that processes share, and Redis, dead, frozen and flushed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.db import transaction
from redis import Redis

from config.api import freshness
from config.api.freshness import Home, Watched, touch, watch
from config.api.freshness.in_redis import REST_SECONDS, RedisHome
from config.api.freshness.shared_memory import SharedMemoryHome
from config.api.freshness.slots import SLOTS, slot_of
from tests.conftest import start_redis

PAGE, OTHER = ("page:p1_a",), ("page:p1_b",)


@pytest.fixture
def in_memory(tmp_path: Path) -> Callable[[], Home]:
    return lambda: SharedMemoryHome(tmp_path / "data" / "versions")


@pytest.fixture
def in_redis(redis_url: str) -> Callable[[], Home]:
    Redis.from_url(redis_url).flushall()
    return lambda: RedisHome(redis_url)


@pytest.fixture(params=["in_memory", "in_redis"])
def homes(request: pytest.FixtureRequest) -> tuple[Home, Home]:
    """The same versions seen from two processes."""
    make = request.getfixturevalue(request.param)
    return make(), make()


def test_a_renewed_version_is_new_everywhere_and_others_stay(homes: tuple[Home, Home]) -> None:
    here, there = homes
    page, other = here.read(PAGE), here.read(OTHER)
    assert there.read(PAGE) == page
    there.renew(PAGE)
    assert here.read(PAGE) not in {page, None}
    assert here.read(PAGE) == there.read(PAGE)
    assert here.read(OTHER) == other


def test_versions_never_come_back(homes: tuple[Home, Home]) -> None:
    seen = set()
    for _ in range(1_000):
        homes[0].renew(PAGE)
        seen.add(homes[1].read(PAGE))
    assert len(seen) == 1_000


def test_another_process_sees_a_renewal(in_memory: Callable[[], Home], tmp_path: Path) -> None:
    before = in_memory().read(PAGE)
    program = (
        "from pathlib import Path; from config.api.freshness.shared_memory import SharedMemoryHome;"
        f"SharedMemoryHome(Path({str(tmp_path / 'data' / 'versions')!r})).renew({PAGE!r})"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    assert in_memory().read(PAGE) != before


def test_a_file_that_cannot_be_made_keeps_nothing_and_fails_nothing(tmp_path: Path) -> None:
    (tmp_path / "versions").mkdir()
    home = SharedMemoryHome(tmp_path / "versions")
    home.renew(PAGE)
    assert home.read(PAGE) is None


def test_slots_are_the_same_in_every_process() -> None:
    assert slot_of("page:p1_a") == 1173
    assert all(0 <= slot_of(f"page:{n}") < SLOTS for n in range(1_000))


def test_a_flush_does_not_bring_an_old_version_back(redis_url: str, in_redis: Callable[[], Home]) -> None:
    home = in_redis()
    before = home.read(PAGE)
    Redis.from_url(redis_url).flushall()
    assert home.read(PAGE) not in {before, None}


@pytest.fixture
def own_redis(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    server = start_redis(tmp_path)
    yield server
    server.kill()
    server.wait()


def test_a_frozen_redis_costs_one_time_out_and_is_told_later(
    own_redis: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    url = f"unix://{tmp_path}/redis.sock"
    here, there = RedisHome(url), RedisHome(url)
    before = here.read(PAGE)
    os.kill(own_redis.pid, signal.SIGSTOP)
    start = time.monotonic()
    here.renew(PAGE)
    here.renew(OTHER)
    assert here.read(PAGE) is None
    assert time.monotonic() - start < 0.3
    os.kill(own_redis.pid, signal.SIGCONT)
    time.sleep(REST_SECONDS + 0.1)
    assert here.read(PAGE) not in {before, None}
    assert there.read(PAGE) == here.read(PAGE)


def test_a_dead_redis_keeps_nothing_and_fails_nothing(own_redis: subprocess.Popen[bytes], tmp_path: Path) -> None:
    home = RedisHome(f"unix://{tmp_path}/redis.sock")
    own_redis.kill()
    own_redis.wait()
    home.renew(PAGE)
    assert home.read(PAGE) is None


@pytest.mark.django_db(transaction=True)
def test_a_touch_counts_from_the_commit_on() -> None:
    watched = watch("page:p1_touch")
    assert watched is not None
    with transaction.atomic():
        touch("page:p1_touch")
        assert watched.still_holds()
    assert not watched.still_holds()


@pytest.mark.django_db(transaction=True)
def test_a_rolled_back_touch_counts_for_nothing() -> None:
    watched = watch("page:p1_rolled_back")
    assert watched is not None
    with transaction.atomic():
        touch("page:p1_rolled_back")
        transaction.set_rollback(True)
    assert watched.still_holds()


@pytest.mark.django_db(transaction=True)
def test_everything_touches_whatever_is_watched() -> None:
    watched = watch("page:p1_x")
    assert isinstance(watched, Watched)
    touch(freshness.EVERYTHING)
    assert not watched.still_holds()
