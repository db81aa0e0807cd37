"""A private PostgreSQL for one run of the tests, gone afterwards even when the run is killed."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from config.runtime.postgres import Cluster

# Nothing in it outlives the run, so nothing has to reach the disk.
SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "shared_buffers": "128MB",
    "max_connections": "200",
    "autovacuum": "off",
}


class TemporaryCluster:
    """Started by the constructor. `close` (or the death of this process) stops the server and removes its folder."""

    def __init__(self, settings: dict[str, str] | None = None) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="cm-test-"))
        # A process of its own does the clearing up: it sees the pipe end, however this process ends.
        self._cleaner = subprocess.Popen(
            [sys.executable, "-m", "tests.temporary_cluster", self.home], stdin=subprocess.PIPE, start_new_session=True
        )
        self.cluster = Cluster(self.home / "postgres", SETTINGS | (settings or {}))
        self.cluster.start()

    @property
    def url(self) -> str:
        return self.cluster.url

    def close(self) -> None:
        if self._cleaner.stdin:
            self._cleaner.stdin.close()
        self._cleaner.wait()


def clear_up_when_told(home: Path) -> None:
    sys.stdin.read()
    try:
        Cluster(home / "postgres").stop("immediate")
    finally:
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    clear_up_when_told(Path(sys.argv[1]))
