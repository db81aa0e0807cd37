"""A primary and synchronous standbys, from the programs of the embedded PostgreSQL.

Each server may live in a network namespace of its own (`Place`). A write is acknowledged when any one standby has it.
Standbys follow whichever server takes writes: after a promotion the others change over by themselves.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import psycopg

from runtime import postgres_binaries
from runtime.postgres import DATABASE, SUPERUSER
from runtime.postgres import SETTINGS as OF_THE_SERVICE
from tests.service import ROOT, free_port
from tests.temporary_cluster import copy_cluster
from tests.waiting import eventually

# Processes are killed, the machine is not: so nothing has to reach the disk.
SETTINGS = OF_THE_SERVICE | {
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "64MB",
    "max_connections": "200",
    "max_wal_senders": "10",
    # A standby that was away for a moment goes on where it was.
    "wal_keep_size": "256MB",
    "wal_sender_timeout": "3s",
    "wal_receiver_timeout": "3s",
    "wal_retrieve_retry_interval": "200ms",
    "unix_socket_permissions": "0777",
}
ACCESS = """local all all trust
local replication all trust
host all all all trust
host replication all all trust
"""
POSITION = "SELECT coalesce(pg_last_wal_receive_lsn(), '0/0') - '0/0'::pg_lsn"
STREAMING = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND application_name = ANY(%s)"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a server runs: its address, and the program that enters its network namespace, if it has one."""

    address: str = "127.0.0.1"
    enter: tuple[str, ...] = ()


@dataclass(slots=True)
class Server:
    """One PostgreSQL. `admin` connects through its socket, also if its network is cut."""

    name: str
    home: Path
    place: Place
    port: int
    settings: Mapping[str, str]
    # The addresses of all servers, and the names that may be synchronous standbys.
    others: Callable[[], list[Server]]
    options: dict[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return self.home / self.name

    @property
    def url(self) -> str:
        """Of this server alone, primary or standby."""
        return f"postgresql://{SUPERUSER}@{self.place.address}:{self.port}/{DATABASE}"

    @property
    def admin_url(self) -> str:
        # The role may have the statement timeout of the service.
        unlimited = "&options=-c%20statement_timeout%3D0"
        return f"postgresql://{SUPERUSER}@/{DATABASE}?host={self.home}&port={self.port}&connect_timeout=5{unlimited}"

    def ask(self, statement: str, *values: object) -> object:
        """The first value of the answer, through the socket."""
        with psycopg.connect(self.admin_url, autocommit=True) as session:
            cursor = session.execute(statement, values)
            row = cursor.fetchone() if cursor.description else None
            return row[0] if row else None

    def is_running(self) -> bool:
        return bool(self.processes())

    def is_standby(self) -> bool:
        return self.ask("SELECT pg_is_in_recovery()") is True

    def received(self) -> int:
        """Bytes of the log that this standby has."""
        return int(str(self.ask(POSITION)))

    def start(self) -> None:
        """Start it as what its folder says: a primary or a standby."""
        (self.folder / "postmaster.pid").unlink(missing_ok=True)
        options = " ".join(f"-c {name}='{value}'" for name, value in self._settings().items())
        self.run("pg_ctl", "start", "--wait", "-t", "60", "-s", "-D", self.folder, "-l", self._log(), "-o", options)

    def stop(self, mode: str = "fast") -> None:
        """`fast` ends the sessions and waits until the standbys have everything; `immediate` is a crash."""
        self.thaw()
        if self.is_running():
            self.run("pg_ctl", "stop", "--wait", "-t", "60", "-s", "-D", self.folder, "-m", mode)

    def kill(self) -> None:
        """SIGKILL to all its processes at once, as a machine that loses its power."""
        _kill(self.folder)

    def freeze(self) -> None:
        for process in self.processes():
            _send(process, signal.SIGSTOP)

    def thaw(self) -> None:
        for process in self.processes():
            _send(process, signal.SIGCONT)

    def promote(self) -> None:
        """Returns when it takes writes."""
        self.run("pg_ctl", "promote", "--wait", "-t", "60", "-s", "-D", self.folder)

    def copy_from(self, primary: Server) -> None:
        """Become a new standby of this primary: replaces the folder by a base backup. Start it afterwards."""
        shutil.rmtree(self.folder, ignore_errors=True)
        # Through the socket, which no cut network disturbs.
        source = ("-h", str(primary.home), "-p", str(primary.port), "-U", SUPERUSER)
        self.run("pg_basebackup", *source, "-D", self.folder, "--checkpoint=fast", "--no-sync")
        (self.folder / "standby.signal").touch()
        shutil.chown(self.folder / "standby.signal", postgres_binaries.owner().pw_uid)

    def processes(self) -> list[psutil.Process]:
        """The main process and the others; none if it does not run."""
        return processes_of(self.folder)

    def run(self, program: str, *arguments: str | Path) -> None:
        """Run one of PostgreSQL's programs in its place, as the user that PostgreSQL accepts."""
        user = postgres_binaries.owner()
        as_user = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
        file = str(postgres_binaries.binaries() / program)
        command = [*self.place.enter, *(as_user if os.geteuid() == 0 else []), file]
        with tempfile.TemporaryFile("w+") as output:
            ended = subprocess.run(
                [*command, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd="/",
                start_new_session=True,
                check=False,
            )
            output.seek(0)
            assert ended.returncode == 0, f"{program} of {self.name}: {output.read()}{self.said()[-2000:]}"

    def said(self) -> str:
        return self._log().read_text() if self._log().exists() else ""

    def _log(self) -> Path:
        return self.home / f"{self.name}.log"

    def _settings(self) -> dict[str, str]:
        servers = self.others()
        hosts = ",".join(each.place.address for each in servers)
        ports = ",".join(str(each.port) for each in servers)
        own = {
            "port": str(self.port),
            "listen_addresses": self.place.address,
            "unix_socket_directories": str(self.home),
            "cluster_name": self.name,
            "primary_conninfo": f"host={hosts} port={ports} user={SUPERUSER} application_name={self.name} "
            "target_session_attrs=read-write connect_timeout=2 tcp_user_timeout=3000",
            # Every server names all of them, so that a promoted one needs no change.
            "synchronous_standby_names": f"ANY 1 ({', '.join(each.name for each in servers)})",
        }
        return {**SETTINGS, **own, **self.settings, **self.options}


class PostgresCluster:
    """`start` makes a primary and its standbys; `close` ends and deletes all. Servers are named db0, db1, …

    `settings` are PostgreSQL's, of every server. With a template (TEMPLATE_CLUSTER) the database is migrated. A
    process that ends without `close` leaves nothing either.
    """

    def __init__(
        self,
        *,
        standbys: int = 2,
        settings: Mapping[str, str] | None = None,
        places: Sequence[Place] = (),
    ) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="cm-cluster-"))
        postgres_binaries.hand_over(self.home)
        # A separate process cleans up: its standard input ends however this process ends.
        self._cleaner = subprocess.Popen(
            [sys.executable, "-m", "tests.cluster.postgres", self.home],
            stdin=subprocess.PIPE,
            cwd=ROOT,
            start_new_session=True,
        )
        # The service may run as another user.
        self.home.chmod(0o755)
        where = [*places, *([Place()] * (standbys + 1 - len(places)))]
        self.servers = [
            Server(f"db{number}", self.home, place, free_port(), settings or {}, lambda: self.servers)
            for number, place in enumerate(where)
        ]
        self.primary = self.servers[0]

    @property
    def url(self) -> str:
        """Of whichever server takes writes."""
        hosts = ",".join(f"{server.place.address}:{server.port}" for server in self.servers)
        return f"postgresql://{SUPERUSER}@{hosts}/{DATABASE}?target_session_attrs=read-write"

    @property
    def standbys(self) -> list[Server]:
        return [server for server in self.servers if server is not self.primary]

    def start(self) -> None:
        self._make_primary()
        for standby in self.standbys:
            standby.copy_from(self.primary)
            standby.start()
        self.wait_for_standbys()

    def wait_for_standbys(self, standbys: Sequence[Server] | None = None) -> None:
        """Until these, or all that run, stream from the primary."""
        names = [each.name for each in (self.standbys if standbys is None else standbys) if each.is_running()]
        assert eventually(lambda: self.primary.ask(STREAMING, names) == len(names)), self.primary.said()[-2000:]

    def most_advanced(self) -> Server:
        """The standby that has every acknowledged write, if all standbys but the frozen or dead ones are here."""
        return max((each for each in self.standbys if each.is_running()), key=Server.received)

    def promote(self, server: Server | None = None) -> float:
        """Let a standby, by default the most advanced one, take writes. Returns the seconds that this took.

        Kill or stop the old primary before: it would go on acknowledging writes with another standby.
        """
        assert not self.primary.is_running(), "two primaries would take writes"
        began, chosen = time.monotonic(), server or self.most_advanced()
        chosen.promote()
        self.primary = chosen
        return time.monotonic() - began

    def rejoin(self, server: Server) -> None:
        """Bring a server back as a standby, with a new copy of the primary."""
        assert server is not self.primary
        server.kill()
        server.copy_from(self.primary)
        server.start()
        self.wait_for_standbys([server])

    def close(self) -> None:
        if self._cleaner.stdin:
            self._cleaner.stdin.close()
        self._cleaner.wait()

    def __enter__(self) -> PostgresCluster:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def _make_primary(self) -> None:
        template, server = os.environ.get("TEMPLATE_CLUSTER"), self.primary
        if template:
            copy_cluster(Path(template), server.folder)
        else:
            locale = ("--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--encoding=UTF8")
            server.run("initdb", "-D", server.folder, "-U", SUPERUSER, "--no-sync", "--no-instructions", *locale)
        (server.folder / "pg_hba.conf").write_text(ACCESS)
        # Without a standby no write would be acknowledged.
        server.options["synchronous_standby_names"] = ""
        server.start()
        with psycopg.connect(server.admin_url.replace(f"/{DATABASE}?", "/postgres?"), autocommit=True) as session:
            if not session.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone():
                session.execute(f"CREATE DATABASE {DATABASE}")
        server.stop()
        del server.options["synchronous_standby_names"]
        server.start()


def clean_up_at_end_of_input(home: Path) -> None:
    sys.stdin.read()
    for folder in filter(Path.is_dir, home.iterdir()):
        _kill(folder)
    shutil.rmtree(home, ignore_errors=True)


def processes_of(folder: Path) -> list[psutil.Process]:
    try:
        main = psutil.Process(int((folder / "postmaster.pid").read_text().split()[0]))
        if main.status() == psutil.STATUS_ZOMBIE or "postgres" not in main.name():
            return []
        return [main, *main.children(recursive=True)]
    except (OSError, ValueError, IndexError, psutil.NoSuchProcess):
        return []


def _kill(folder: Path) -> None:
    processes = processes_of(folder)
    # All at once: none may acknowledge anything after another has ended.
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for process in processes:
            _send(process, number)
    psutil.wait_procs(processes, timeout=30)
    (folder / "postmaster.pid").unlink(missing_ok=True)


def _send(process: psutil.Process, number: signal.Signals) -> None:
    try:
        process.send_signal(number)
    except psutil.NoSuchProcess:
        return


if __name__ == "__main__":
    clean_up_at_end_of_input(Path(sys.argv[1]))
