"""A full disk under the file of versions: whoever writes into a hole of a mapped file is killed by the kernel."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from config.api.freshness.shared_memory import SharedMemoryHome
from tests.faults.kinds import ballast
from tests.faults.stage import can_mount, small_disk
from tests.service import ROOT

WRITE = """
import sys
from pathlib import Path
from config.api.freshness.shared_memory import SharedMemoryHome
home = SharedMemoryHome(Path(sys.argv[1]))
for number in range(2_000):
    home.renew((f"subject {number}",))
print("still here")
"""


def test_the_file_of_versions_has_no_holes(tmp_path: Path) -> None:
    file = tmp_path / "versions"
    home = SharedMemoryHome(file)
    found = file.stat()
    assert found.st_blocks * 512 >= found.st_size > 0
    home.renew(("a",))
    again = SharedMemoryHome(file)
    assert again.read(("a", "b")) == home.read(("a", "b"))
    assert file.stat().st_size == found.st_size


@pytest.mark.skipif(not can_mount(), reason="only root can make a small disk")
@pytest.mark.parametrize("made_before", [True, False])
def test_a_full_disk_kills_no_worker(tmp_path: Path, made_before: bool) -> None:
    with small_disk(tmp_path, 4 << 20):
        file = tmp_path / "versions"
        if made_before:
            SharedMemoryHome(file)
        with ballast(tmp_path / "ballast"):
            command = [sys.executable, "-c", WRITE, file]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "still here\n"), done.stderr
