"""Shared counters: exact, separate per key, and without effect if they are unavailable."""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernel.cache import counters
from kernel.cache.counters import SharedCounters

SECRET = "x" * 100
TIMES = 300
SPAWNED = multiprocessing.get_context("spawn")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "counters"


def count_up(path: Path, times: int) -> list[int]:
    shared = SharedCounters(path, SECRET)
    return [shared.increment("the same", 60) for _ in range(times)]


@pytest.mark.processes
def test_concurrent_processes_and_threads_lose_no_count(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine may pause a process that has the lock for longer than a call waits."""
    monkeypatch.setattr(counters, "LOCK_SECONDS", 30)
    shared = SharedCounters(path, SECRET)
    with SPAWNED.Pool(2, patient) as pool, ThreadPoolExecutor(4) as threads:
        elsewhere = pool.starmap_async(count_up, [(path, TIMES)] * 2)
        here = list(threads.map(lambda _: shared.increment("the same", 60), range(TIMES)))
        seen = [*here, *(number for counted in elsewhere.get(120) for number in counted)]
    assert sorted(seen) == list(range(1, 3 * TIMES + 1))


def patient() -> None:
    counters.LOCK_SECONDS = 30


@settings(max_examples=30)
@given(st.lists(st.integers(0, 40), max_size=200))
def test_keys_have_separate_counts(keys: list[int]) -> None:
    shared, expected = SharedCounters(Path("/dev/null/nowhere"), SECRET), dict.fromkeys(keys, 0)
    for key in keys:
        expected[key] += 1
        assert shared.increment(str(key), 60) == expected[key]


def test_the_bucket_of_a_key_depends_on_the_secret(path: Path) -> None:
    """Else an attacker could fill the bucket of another count, such as that of codes of a second factor."""
    assert SharedCounters(path, SECRET).increment("the same", 60) == 1
    assert SharedCounters(path, "another").increment("the same", 60) == 1
    assert SharedCounters(path, SECRET).increment("the same", 60) == 2, "counts survive the process"


def test_a_full_bucket_evicts_the_entry_that_expires_first(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counters, "BUCKETS", 1)
    shared = SharedCounters(path, SECRET)
    assert [shared.increment(str(key), 60 + key) for key in range(counters.WAYS)] == [1] * counters.WAYS
    assert shared.increment("one more", 3600) == 1
    assert [shared.increment(str(key), 3600) for key in (1, 2)] == [2, 2]
    assert shared.increment("0", 3600) == 1, "gave way, and takes the place of the next"
    assert shared.increment("one more", 3600) == 2


def lock_forever(path: Path, locked: Any) -> None:
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        locked.set()
        signal.pause()


@pytest.mark.processes
def test_a_frozen_process_lets_calls_pass_and_a_killed_one_releases_its_lock(path: Path) -> None:
    shared, locked = SharedCounters(path, SECRET), SPAWNED.Event()
    process = SPAWNED.Process(target=lock_forever, args=[path, locked])
    process.start()
    try:
        assert locked.wait(60)
        assert process.pid
        os.kill(process.pid, signal.SIGSTOP)
        assert shared.increment("a", 60) == 0
    finally:
        # A stopped process ends too.
        process.kill()
        process.join(60)
    assert shared.increment("a", 60) == 1


def test_without_the_file_each_process_counts_separately(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    first, second = (SharedCounters(tmp_path / "file" / "counters", SECRET) for _ in range(2))
    assert (first.increment("a", 60), first.increment("a", 60), second.increment("a", 60)) == (1, 2, 1)
