"""A full disk under files that are mapped into memory: the kernel kills a process that writes into a hole of one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kernel.cache.shared_memory import SharedMemoryVersionStore
from kernel.metrics import exposition, files
from kernel.metrics.allocated import SIZE
from tests.faults.environment import can_mount, small_disk
from tests.faults.faults import ballast
from tests.service import ROOT

WRITE = """
import sys
from pathlib import Path
from kernel.cache.shared_memory import SharedMemoryVersionStore
store = SharedMemoryVersionStore(Path(sys.argv[1]))
for number in range(2_000):
    store.bump((f"tag {number}",))
print("still here")
"""
# More than the first 64 KB of a file.
COUNT = """
from kernel.metrics.definitions import requests
for number in range(1_000):
    requests.labels(f"operation {number}", "200").inc()
print("still here")
"""


def count(folder: Path) -> subprocess.CompletedProcess[str]:
    """In a process of its own, which shares its metrics."""
    environment = os.environ | {files.VARIABLE: str(folder)}
    command = [sys.executable, "-c", COUNT]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def test_file_of_versions_is_fully_allocated(tmp_path: Path) -> None:
    file = tmp_path / "versions"
    store = SharedMemoryVersionStore(file)
    status = file.stat()
    assert status.st_blocks * 512 >= status.st_size > 0
    store.bump(("a",))
    again = SharedMemoryVersionStore(file)
    assert again.read(("a", "b")) == store.read(("a", "b"))
    assert file.stat().st_size == status.st_size


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.skipif(not can_mount(), reason="only root can mount a small disk")
@pytest.mark.parametrize("exists_before", [True, False])
def test_full_disk_kills_no_worker(tmp_path: Path, exists_before: bool) -> None:
    with small_disk(tmp_path, 4 << 20):
        file = tmp_path / "versions"
        if exists_before:
            SharedMemoryVersionStore(file)
        with ballast(tmp_path / "ballast"):
            command = [sys.executable, "-c", WRITE, file]
            finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (finished.returncode, finished.stdout) == (0, "still here\n"), finished.stderr


@pytest.mark.slow
@pytest.mark.processes
def test_files_of_metrics_are_fully_allocated(tmp_path: Path) -> None:
    assert count(tmp_path).returncode == 0
    (file,) = tmp_path.glob("counter_*.db")
    assert file.stat().st_blocks * 512 >= file.stat().st_size > SIZE


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.skipif(not can_mount(), reason="only root can mount a small disk")
@pytest.mark.parametrize("room", [0, SIZE + 16 * 1024, 1 << 20])
def test_full_disk_kills_no_process_that_counts(tmp_path: Path, room: int) -> None:
    with small_disk(tmp_path, 4 << 20), ballast(tmp_path / "ballast"):
        with (tmp_path / "ballast").open("r+b") as file:
            file.truncate(file.seek(0, os.SEEK_END) - room)
        finished = count(tmp_path)
    assert (finished.returncode, finished.stdout) == (0, "still here\n"), finished.stderr


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.skipif(not can_mount(), reason="only root can mount a small disk")
def test_full_disk_loses_no_counts_of_ended_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(files.VARIABLE, str(tmp_path))
    last = b'requests_total{operation="operation 999",status="200"} 2.0'
    with small_disk(tmp_path, 4 << 20):
        for _ in range(2):
            assert count(tmp_path).returncode == 0
        with ballast(tmp_path / "ballast"):
            assert last in exposition.text()
            assert len(list(tmp_path.glob("counter_*.db"))) == 2
