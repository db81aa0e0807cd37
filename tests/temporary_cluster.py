"""A private PostgreSQL for one test run; it is deleted even if the run is killed."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from config.runtime.postgres import Cluster

# The data is deleted after the run, so durability is off.
SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "shared_buffers": "128MB",
    "max_connections": "200",
    "autovacuum": "off",
}


class TemporaryCluster:
    """The constructor starts the server. `close`, or the end of this process, stops it and deletes its folder."""

    def __init__(self, settings: dict[str, str] | None = None) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="cm-test-"))
        # A separate process cleans up: its standard input ends however this process ends.
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


def clean_up_at_end_of_input(home: Path) -> None:
    sys.stdin.read()
    try:
        Cluster(home / "postgres").stop("immediate")
    finally:
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    clean_up_at_end_of_input(Path(sys.argv[1]))
