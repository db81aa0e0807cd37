"""A private PostgreSQL for one test run; it is deleted even if the run is killed."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import psycopg

from runtime.postgres import DATABASE, Cluster

ROOT = Path(__file__).resolve().parent.parent
TEMPLATE_DATABASE = "migrated"
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
    """The constructor starts the server. `close`, or the end of this process, stops it and deletes its folder.

    With the folder of a template, its database is migrated.
    """

    def __init__(self, settings: dict[str, str] | None = None, *, template: str | None = None) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="cm-test-"))
        # A separate process cleans up: its standard input ends however this process ends.
        self._cleaner = subprocess.Popen(
            [sys.executable, "-m", "tests.temporary_cluster", self.home], stdin=subprocess.PIPE, start_new_session=True
        )
        self.cluster = Cluster(self.home / "postgres", SETTINGS | (settings or {}))
        self._is_migrated = template is not None
        if template:
            copy_cluster(Path(template), self.cluster.folder)
        self.cluster.start()

    @property
    def url(self) -> str:
        return self.cluster.url

    def make_template(self) -> Path:
        """Migrate, and copy the result: to a database named TEMPLATE_DATABASE, and to a folder, which is returned.

        The databases of the workers and the clusters of the services are copies, since migrations take seconds.
        """
        if not self._is_migrated:
            self._manage("migrate")
        if os.environ.get("PARTITIONED_POSTS") == "1":
            # tests/partitioning/test_suite.py runs parts of the suite in this way.
            self._manage("partition_messages")
        self.cluster.stop()
        folder = self.home / "template"
        copy_cluster(self.cluster.folder, folder)
        # The services are never killed together with the machine.
        with (folder / "postgresql.auto.conf").open("a") as settings:
            settings.write("fsync = off\n")
        self.cluster.start()
        with psycopg.connect(self.url.replace(f"/{DATABASE}?", "/postgres?"), autocommit=True) as session:
            session.execute(f"ALTER DATABASE {DATABASE} RENAME TO {TEMPLATE_DATABASE}")
            session.execute(f"CREATE DATABASE {DATABASE}")
        return folder

    def _manage(self, command: str) -> None:
        subprocess.run(
            [sys.executable, "manage.py", command, "--verbosity=0"],
            cwd=ROOT,
            env=os.environ | {"DATABASE_URL": self.url},
            check=True,
            stdout=subprocess.DEVNULL,
        )

    def close(self) -> None:
        if self._cleaner.stdin:
            self._cleaner.stdin.close()
        self._cleaner.wait()


def copy_cluster(folder: Path, copy: Path) -> None:
    """Copy the folder of a stopped cluster, with its owner."""
    copy.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "-a", folder, copy], check=True)


def clean_up_at_end_of_input(home: Path) -> None:
    sys.stdin.read()
    try:
        Cluster(home / "postgres").stop("immediate")
    finally:
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    clean_up_at_end_of_input(Path(sys.argv[1]))
