"""A full disk under the mapped file of versions: the kernel kills a process that writes into a hole of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from config.cache.shared_memory_store import SharedMemoryVersionStore
from tests.faults.environment import can_mount, small_disk
from tests.faults.faults import ballast
from tests.service import ROOT

WRITE = """
import sys
from pathlib import Path
from config.cache.shared_memory_store import SharedMemoryVersionStore
store = SharedMemoryVersionStore(Path(sys.argv[1]))
for number in range(2_000):
    store.bump((f"tag {number}",))
print("still here")
"""


def test_file_of_versions_is_fully_allocated(tmp_path: Path) -> None:
    file = tmp_path / "versions"
    store = SharedMemoryVersionStore(file)
    status = file.stat()
    assert status.st_blocks * 512 >= status.st_size > 0
    store.bump(("a",))
    again = SharedMemoryVersionStore(file)
    assert again.read(("a", "b")) == store.read(("a", "b"))
    assert file.stat().st_size == status.st_size


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
