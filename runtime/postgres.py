"""The embedded PostgreSQL: a cluster in a folder, created on the first start, that listens on a socket and on no port.

The wheel with the programs has code to start a server. It is not used: after its process is killed the server runs for
ever, all users of a machine share one lock file, and it mistakes any live process for PostgreSQL.
"""

import logging
import shlex
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import psutil
import psycopg

from runtime import postgres_binaries, sockets
from runtime.postgres_binaries import PostgresError

SUPERUSER = "postgres"
DATABASE = "community"
# How long `pg_ctl` waits for a start; the recovery after a crash may take longer.
START_SECONDS = 60
RECOVERY_POLL_SECONDS = 1.0
# How long a fast stop may take. With the stop of the workers (runtime.granian) it is less than ten seconds.
STOP_SECONDS = 3
logger = logging.getLogger(__name__)

SETTINGS = {
    "listen_addresses": "",
    # Connections are trusted, because only the owner (and root) can open the socket.
    "unix_socket_permissions": "0700",
    "max_connections": "60",
    "shared_buffers": "256MB",
    "effective_cache_size": "2GB",
    "work_mem": "8MB",
    "maintenance_work_mem": "128MB",
    "max_wal_size": "1GB",
    "random_page_cost": "1.1",
    "jit": "off",
    # How long a lock waits before the check for a deadlock: the aborted write is run again at once.
    "deadlock_timeout": "200ms",
    "timezone": "UTC",
    "log_timezone": "UTC",
}


class Cluster:
    """A data folder and its server.

    `settings` override SETTINGS. Any process can use and stop a running server; `start` and `stop` may be repeated.
    """

    def __init__(self, folder: Path, settings: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.settings = SETTINGS | dict(settings or {})
        self.socket_folder = sockets.folder_of(folder)

    @property
    def url(self) -> str:
        return self._url(DATABASE)

    def is_made(self) -> bool:
        return (self.folder / "PG_VERSION").exists()

    def is_running(self) -> bool:
        return postgres_binaries.answers(self.socket_folder)

    def start(self) -> None:
        """Create the cluster, start it and create its database, as far as that has not been done."""
        if not self.is_made():
            self._make()
        if not self.is_running():
            # Repeated here, because the programs may have been reinstalled since the folder was created.
            postgres_binaries.hand_over(self.folder)
            if self.socket_folder != self.folder:
                sockets.prepare(self.socket_folder)
            self._forget_dead_server()
            self._launch()
        self._await_recovery()
        self._make_database()

    def stop(self, mode: str = "fast") -> None:
        """`fast` ends the sessions and writes all data; `immediate` is a crash, which loses no committed data.

        A server that runs STOP_SECONDS after a fast stop is stopped by `immediate`; its next start recovers.
        """
        self._forget_dead_server()
        pid_file = self.folder / "postmaster.pid"
        if pid_file.exists():
            try:
                self._control("stop", "-m", mode, "-t", str(STOP_SECONDS))
            except PostgresError:
                # The server may have ended by itself before `pg_ctl` read the file.
                if pid_file.exists():
                    self._control("stop", "-m", "immediate")
        if self.socket_folder != self.folder:
            shutil.rmtree(self.socket_folder, ignore_errors=True)

    def _make(self) -> None:
        """Create a draft folder and rename it when complete, so that an interrupted start leaves no partial one."""
        draft = self.folder.with_name(self.folder.name + ".new")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True, mode=0o700)
        postgres_binaries.hand_over(draft)
        # PostgreSQL's builtin locale, so that text sorts in the same order on every machine.
        locale = ("--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--encoding=UTF8")
        access = ("--username", SUPERUSER, "--auth-local=trust", "--auth-host=reject")
        sync = ("--no-sync",) if self.settings.get("fsync") == "off" else ()
        postgres_binaries.run("initdb", "--pgdata", draft, "--no-instructions", *locale, *access, *sync)
        draft.rename(self.folder)

    def _launch(self) -> None:
        try:
            self._control("start", "-t", str(START_SECONDS), "-l", str(self.folder / "log"), "-o", self._options())
        except PostgresError:
            if not self._has_process():
                raise

    def _await_recovery(self) -> None:
        """A server that is stopped meanwhile recovers from the first step again at its next start."""
        if postgres_binaries.accepts(self.socket_folder):
            return
        logger.warning("PostgreSQL recovers after a crash. Its log says how far it is: %s", self.folder / "log")
        while not postgres_binaries.accepts(self.socket_folder):
            if not self._has_process():
                raise PostgresError(f"PostgreSQL ended while it recovered. Its log: {self.folder / 'log'}")
            time.sleep(RECOVERY_POLL_SECONDS)

    def _make_database(self) -> None:
        with psycopg.connect(self._url("postgres"), autocommit=True) as connection:
            if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone():
                connection.execute(f'CREATE DATABASE "{DATABASE}"')

    def _forget_dead_server(self) -> None:
        """Remove the lock files of a crash: another process may have their process id."""
        pid_file = self.folder / "postmaster.pid"
        if pid_file.exists() and not self._has_process():
            # A server that ends removes the files.
            with suppress(FileNotFoundError):
                pid_file.unlink()
                (self.socket_folder / f"{sockets.NAME}.lock").unlink()

    def _has_process(self) -> bool:
        """Also while it is too busy to answer."""
        try:
            return _is_postgres((self.folder / "postmaster.pid").read_text().partition("\n")[0])
        except FileNotFoundError:
            return False

    def _options(self) -> str:
        return " ".join(f"-c {shlex.quote(f'{name}={value}')}" for name, value in self._all_settings().items())

    def _all_settings(self) -> dict[str, str]:
        return self.settings | {"unix_socket_directories": str(self.socket_folder)}

    def _control(self, action: str, *arguments: str) -> None:
        try:
            postgres_binaries.run("pg_ctl", action, "--wait", "--silent", "--pgdata", self.folder, *arguments)
        except PostgresError as error:
            raise PostgresError(f"{error}\nPostgreSQL's own log: {self.folder / 'log'}") from error

    def _url(self, database: str) -> str:
        return f"postgresql://{SUPERUSER}@/{database}?host={quote(str(self.socket_folder), safe='')}"


def embedded(data: Path) -> Cluster:
    """The cluster of a data folder (DATA_DIR), running or not."""
    return Cluster(data / "postgres")


def _is_postgres(pid: str) -> bool:
    try:
        return "postgres" in psutil.Process(int(pid)).name()
    except (psutil.NoSuchProcess, ValueError):
        return False
