"""The embedded PostgreSQL: a cluster in a folder, made on first start, reached over a socket and never over a port.

The wheel that brings the programs has a starter of its own. It is not used: after a killed process it keeps the server
running for ever, all users of a machine share its one lock file, and it takes any live process for PostgreSQL.
"""

import hashlib
import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

import psutil
import psycopg

from config.runtime import postgres_binaries
from config.runtime.postgres_binaries import PostgresError

SUPERUSER = "postgres"
DATABASE = "community"
SOCKET_NAME = ".s.PGSQL.5432"
# Linux takes 107 bytes, macOS 103.
SOCKET_PATH_MAX = 103
START_SECONDS = 60
# How long a fast stop may take; with the workers' part (config.runtime.granian) it stays under ten seconds.
STOP_SECONDS = 3

SETTINGS = {
    "listen_addresses": "",
    # Whoever may open the socket is trusted: only the owner (and root) may.
    "unix_socket_permissions": "0700",
    "max_connections": "60",
    "shared_buffers": "256MB",
    "effective_cache_size": "2GB",
    "work_mem": "8MB",
    "maintenance_work_mem": "128MB",
    "max_wal_size": "1GB",
    "random_page_cost": "1.1",
    "jit": "off",
    # A deadlock is looked for after so long a wait: the write that is broken off is run again at once.
    "deadlock_timeout": "200ms",
    "timezone": "UTC",
    "log_timezone": "UTC",
}


class Cluster:
    """One data folder and the server on it.

    `settings` go over SETTINGS. A running server is found again, by any process; `start` and `stop` may be repeated.
    """

    def __init__(self, folder: Path, settings: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.settings = SETTINGS | dict(settings or {})
        self.socket_folder = socket_folder(folder)

    @property
    def url(self) -> str:
        return self._url(DATABASE)

    def is_made(self) -> bool:
        return (self.folder / "PG_VERSION").exists()

    def is_running(self) -> bool:
        return postgres_binaries.answers(self.socket_folder)

    def start(self) -> None:
        """Make the cluster if there is none, start it if it is not running, make its database if there is none."""
        if not self.is_made():
            self._make()
        if not self.is_running():
            # Again: the programs may have been installed anew since the folder was made.
            postgres_binaries.hand_over(self.folder)
            self._prepare_socket_folder()
            self._forget_dead_server()
            self._control("start", "-t", str(START_SECONDS), "-l", str(self.folder / "log"), "-o", self._options())
        self._make_database()

    def stop(self, mode: str = "fast") -> None:
        """`fast` ends the sessions and writes everything out; `immediate` is a crash, which loses nothing committed.

        A server that a fast stop has not ended after STOP_SECONDS is stopped by a crash; its next start recovers.
        """
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
        """In a folder beside, and renamed when whole, so that a broken-off start leaves nothing half made."""
        draft = self.folder.with_name(self.folder.name + ".new")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True, mode=0o700)
        postgres_binaries.hand_over(draft)
        # The locale is PostgreSQL's own, so that text sorts alike on every machine.
        locale = ("--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--encoding=UTF8")
        access = ("--username", SUPERUSER, "--auth-local=trust", "--auth-host=reject")
        sync = ("--no-sync",) if self.settings.get("fsync") == "off" else ()
        postgres_binaries.run("initdb", "--pgdata", draft, "--no-instructions", *locale, *access, *sync)
        draft.rename(self.folder)

    def _make_database(self) -> None:
        with psycopg.connect(self._url("postgres"), autocommit=True) as connection:
            if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone():
                connection.execute(f'CREATE DATABASE "{DATABASE}"')

    def _prepare_socket_folder(self) -> None:
        """Outside the data folder it lies where others may write: it has to be ours alone."""
        if self.socket_folder == self.folder:
            return
        owner = postgres_binaries.owner().pw_uid
        self.socket_folder.mkdir(mode=0o700, exist_ok=True)
        if self.socket_folder.is_symlink() or self.socket_folder.stat().st_uid not in (owner, os.geteuid()):
            raise PostgresError(f"{self.socket_folder} belongs to somebody else; remove it.")
        os.chown(self.socket_folder, owner, -1)
        self.socket_folder.chmod(0o700)

    def _forget_dead_server(self) -> None:
        """After a crash of the machine another process may have the number that `postmaster.pid` names."""
        pid_file = self.folder / "postmaster.pid"
        if pid_file.exists() and not _is_postgres(pid_file.read_text().partition("\n")[0]):
            pid_file.unlink()

    def _options(self) -> str:
        settings = self.settings | {"unix_socket_directories": str(self.socket_folder)}
        return " ".join(f"-c {shlex.quote(f'{name}={value}')}" for name, value in settings.items())

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


def socket_folder(folder: Path) -> Path:
    """The cluster's own folder; a short one where its path is too long or has letters that mean something."""
    path = folder / SOCKET_NAME
    if len(os.fsencode(path)) <= SOCKET_PATH_MAX and re.fullmatch(r"[\w /.+-]+", str(path), re.ASCII):
        return folder
    return Path(tempfile.gettempdir()) / f"postgres-{hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]}"


def _is_postgres(pid: str) -> bool:
    try:
        return "postgres" in psutil.Process(int(pid)).name()
    except (psutil.NoSuchProcess, ValueError):
        return False
