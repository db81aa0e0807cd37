"""barman with the configuration of deploy/barman: back up, write on, destroy, restore to a moment, and the drill."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread

import psycopg
import pytest
from django.core.management import CommandError

from kernel.metrics.backup_report import successes
from runtime import postgres_binaries
from tests.backup.database import make_tables
from tests.commands.running import refused, run
from tests.service import ROOT, free_port
from tests.waiting import eventually

PROGRAMS = next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)), Path("/none/none")).parent
pytestmark = [
    pytest.mark.slow,
    pytest.mark.processes,
    pytest.mark.skipif(
        shutil.which("barman") is None or not PROGRAMS.exists(), reason="no barman, or no PostgreSQL of Debian"
    ),
]

CONFIGURATION = ROOT / "deploy" / "barman" / "community-messaging.conf"
UNIT = ROOT / "deploy" / "systemd" / "community-messaging-backup.service"
NAME = "community-messaging"
DATABASE = "community"
POST = "INSERT INTO messaging_message VALUES (%s, %s, now())"
AWS = dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION"), "us-east-1")
MOMENT = "SELECT clock_timestamp()"


class Server:
    """Debian's PostgreSQL in a folder."""

    def __init__(self, home: Path, folder: Path) -> None:
        self.home, self.folder = home, folder

    def url(self, name: str = DATABASE) -> str:
        return f"postgresql://postgres@/{name}?host={self.home}"

    def make(self) -> None:
        self.folder.mkdir(mode=0o700)
        postgres_binaries.hand_over(self.folder)
        postgres_binaries.run(
            str(PROGRAMS / "initdb"), "-D", self.folder, "-U", "postgres", "--auth=trust", "--no-sync"
        )

    def start(self) -> None:
        subprocess.run(["chown", "-R", str(postgres_binaries.owner().pw_uid), self.folder], check=True)
        options = f"-c listen_addresses= -c unix_socket_directories={self.home} -c fsync=off"
        arguments = ("-D", self.folder, "-l", self.home / "log", "-o", options)
        postgres_binaries.run(str(PROGRAMS / "pg_ctl"), "start", "--wait", *arguments)

    def stop(self) -> None:
        if (self.folder / "postmaster.pid").exists():
            postgres_binaries.run(str(PROGRAMS / "pg_ctl"), "stop", "--wait", "-m", "immediate", "-D", self.folder)

    def ask(self, statement: str, *parameters: object, name: str = DATABASE) -> list[tuple[object, ...]]:
        with psycopg.connect(self.url(name), autocommit=True) as session:
            found = session.execute(statement.encode(), parameters)
            return found.fetchall() if found.description else []

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Writes to the log all along, as a service does. That of an idle server is closed up to 15 seconds later."""
        ended = Event()

        def write() -> None:
            with psycopg.connect(self.url("postgres"), autocommit=True) as session:
                while not ended.wait(0.1):
                    session.execute("SELECT pg_logical_emit_message(true, '', '')")

        writer = Thread(target=write)
        writer.start()
        try:
            yield
        finally:
            ended.set()
            writer.join()


@dataclass
class Place:
    home: Path
    server: Server
    config: Path

    def barman(self, *arguments: str | Path) -> None:
        """Its output is a file: the receiver of the log that it starts would not close a pipe."""
        call = ["barman", "--config", self.config, *arguments]
        with (self.home / "said").open("w+") as said:
            ended = subprocess.run(call, check=False, stdout=said, stderr=said, stdin=subprocess.DEVNULL, cwd="/")
            said.seek(0)
            assert ended.returncode == 0, (call, said.read())

    def catch_up(self) -> None:
        """Bring the log of all that was written to barman."""
        self.barman("switch-wal", "--force", "--archive", NAME)


def documented_role() -> str:
    found = re.search(r"```sql\n(CREATE ROLE barman .*);\n```", (ROOT / "docs/operations.md").read_text())
    assert found
    return found[1]


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    """A server with posts, and barman, which has one backup of it and receives its log."""
    with TemporaryDirectory(prefix="cm-barman-") as name:
        home = Path(name)
        home.chmod(0o777)
        server = Server(home, home / "data")
        config = home / "barman.conf"
        text = CONFIGURATION.read_text().replace("/var/run/postgresql", name)
        config.write_text(
            f"[barman]\nbarman_home = {home}/barman\nbarman_user = {Path(home).owner()}\nlog_file = {home}/barman.log\n"
            f"path_prefix = {PROGRAMS}\n{text}"
        )
        (home / "barman").mkdir()
        server.make()
        server.start()
        made = Place(home, server, config)
        try:
            server.ask(f"CREATE DATABASE {DATABASE}", name="postgres")
            server.ask(documented_role(), name="postgres")
            with psycopg.connect(server.url()) as session:
                make_tables(session)
                session.execute("ALTER TABLE messaging_message ADD created_at timestamptz DEFAULT now()")
            made.barman("cron")
            assert eventually(lambda: server.ask("SELECT pid FROM pg_stat_replication", name="postgres"))
            with server.busy():
                made.catch_up()
                made.barman("backup", "--wait", NAME)
                yield made
        finally:
            subprocess.run(["barman", "--config", config, "receive-wal", "--stop", NAME], check=False)
            server.stop()


@pytest.fixture
def report(place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The file of the report; the settings are those of the service that is backed up."""
    monkeypatch.setenv("BACKUP_REPORT", str(tmp_path / "report.json"))
    monkeypatch.setenv("DATABASE_URL", place.server.url())
    return tmp_path / "report.json"


def drill(place: Place, *options: str) -> str:
    return run("backup_report", "--config", str(place.config), "--scratch", str(place.home), *options)


def test_each_moment_since_a_backup_can_be_restored(place: Place) -> None:
    place.server.ask(POST, 5001, "written before")
    ((moment,),) = place.server.ask(MOMENT)
    time.sleep(0.1)
    place.server.ask(POST, 5002, "written after")
    place.catch_up()
    restored = Server(place.home / "other", place.home / "restored")
    restored.home.mkdir(mode=0o777)
    restored.home.chmod(0o777)
    target = (f"--target-time={moment}", "--target-action=promote")
    place.barman("recover", *target, NAME, "latest", restored.folder)
    restored.start()
    try:
        found = restored.ask("SELECT content FROM messaging_message WHERE id > 5000")
        assert found == [("written before",)]
        assert eventually(lambda: restored.ask("SELECT pg_is_in_recovery()") == [(False,)])
    finally:
        restored.stop()


def test_a_drill_restores_the_latest_backup_and_reports_it(place: Place, report: Path) -> None:
    assert successes() == {"backup": 0.0, "restore_drill": 0.0}
    assert "backup " in drill(place)
    assert json.loads(report.read_text())["drill"] is None
    place.server.ask(POST, 6001, "the newest")
    place.catch_up()
    started = datetime.now(UTC).timestamp() - 1
    assert re.search(r"restored with 50\d\d posts, the newest of ", drill(place, "--drill"))
    found = json.loads(report.read_text())
    ((newest,),) = place.server.ask("SELECT max(created_at) FROM messaging_message")
    assert isinstance(newest, datetime)
    assert datetime.fromisoformat(found["drill"]["newestPost"]) == newest
    assert (found["drill"]["error"], found["problems"]) == ("", [])
    assert successes()["restore_drill"] >= started
    assert successes()["backup"] > 0
    assert not list(place.home.glob("drill-*"))


def test_a_drill_that_fails_says_why_and_keeps_the_time_of_the_last_good_one(
    place: Place, report: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drill(place, "--drill")
    good = successes()
    monkeypatch.setenv("ROOT_KEY", "another-root-key" * 5)
    with pytest.raises(CommandError, match=r"cannot be restored: ROOT_KEY is not of the service"):
        drill(place, "--drill")
    (lost,) = (place.home / "barman" / NAME / "base").glob("*/data/global/pg_control")
    content = lost.read_bytes()
    lost.unlink()
    try:
        with pytest.raises(CommandError, match=r"cannot be restored: "):
            drill(place, "--drill")
    finally:
        lost.write_bytes(content)
    assert json.loads(report.read_text())["drill"]["error"]
    assert successes() == good
    assert not list(place.home.glob("drill-*"))


def test_what_is_missing_is_named(place: Place, report: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    empty = tmp_path / "empty.conf"
    empty.write_text(place.config.read_text().replace(f"[{NAME}]", "[another]").replace("/barman\n", "/none\n", 1))
    assert "barman list-backup failed" in refused("backup_report", "--config", str(empty))
    (place.home / "none").mkdir(exist_ok=True)
    said = refused("backup_report", "--config", str(empty), "--server", "another", "--drill")
    assert "no finished backup" in said
    assert json.loads(report.read_text())["backup"] is None
    monkeypatch.delenv("BACKUP_REPORT")
    assert successes() == {}
    assert "BACKUP_REPORT is not set" in refused("backup_report", "--config", str(place.config))
    monkeypatch.setenv("PATH", "/nowhere")
    assert "barman is not installed" in refused("backup_report")


@pytest.mark.skipif(shutil.which("barman-cloud-backup") is None, reason="no barman-cli-cloud")
def test_a_copy_is_made_in_a_store_that_speaks_s3_and_restored_from_it(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = pytest.importorskip("moto.server", reason="no moto")
    boto3 = pytest.importorskip("boto3")
    for name, value in AWS.items():
        monkeypatch.setenv(name, value)
    port = free_port()
    store = server.ThreadedMotoServer(ip_address="127.0.0.1", port=port, verbose=False)
    store.start()
    address = f"http://127.0.0.1:{port}"
    config = place.config.read_text()
    try:
        boto3.client("s3", endpoint_url=address).create_bucket(Bucket="bucket")
        hooks = re.sub("^;(p.*_script)", r"\1", config, flags=re.M)
        place.config.write_text(hooks.replace("https://s3.example.com", address))
        place.barman("backup", "--wait", NAME)
        place.server.ask(POST, 7001, "after the copy of the backup")
        place.catch_up()
        options = f"--endpoint-url {address} s3://bucket/backups {NAME}"
        listed = ["barman-cloud-backup-list", "--format=json", *options.split()]
        said = subprocess.run(listed, capture_output=True, text=True, check=True).stdout
        (backup,) = json.loads(said)["backups_list"]
        restored = Server(place.home / "elsewhere", place.home / "from_store")
        restored.home.mkdir()
        restored.home.chmod(0o777)
        subprocess.run(["barman-cloud-restore", *options.split(), backup["backup_id"], restored.folder], check=True)
        keys = " ".join(f"{name}={value}" for name, value in AWS.items())
        with (restored.folder / "postgresql.auto.conf").open("a") as settings:
            settings.write(f"\nrestore_command = 'env {keys} barman-cloud-wal-restore {options} %f %p'\n")
        (restored.folder / "recovery.signal").touch()
        restored.start()
        try:
            assert eventually(lambda: restored.ask("SELECT pg_is_in_recovery()") == [(False,)])
            found = restored.ask("SELECT content FROM messaging_message WHERE id = 7001")
            assert found == [("after the copy of the backup",)]
        finally:
            restored.stop()
        (delete,) = re.findall("^#ExecStartPost=(/usr/bin/barman-cloud.*)$", UNIT.read_text(), flags=re.M)
        subprocess.run(shlex.split(delete.replace("https://s3.example.com", address)), check=True)
        assert json.loads(subprocess.run(listed, capture_output=True, text=True, check=True).stdout) == json.loads(said)
    finally:
        place.config.write_text(config)
        store.stop()
