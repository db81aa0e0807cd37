"""The drill: write, back up, write on, destroy, restore to a moment: exactly what was acknowledged by then."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.client import HTTPException
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql

from runtime.postgres import DATABASE, SUPERUSER
from runtime.postgres_binaries import owner
from tests.backup.database import begin_again_by_hand
from tests.clients import Clients, Person, bearer
from tests.cluster.postgres import Place, Server
from tests.faults.environment import SETTINGS
from tests.faults.hosts import SECRETS, empty_database
from tests.remote import Remote
from tests.service import ROOT, Service, a_service, free_port
from tests.waiting import PATIENCE_SECONDS, eventually

pytestmark = [pytest.mark.slow, pytest.mark.processes]

ARCHIVED = "SELECT last_archived_wal >= %s FROM pg_stat_archiver"
SWITCH = "SELECT pg_walfile_name(pg_switch_wal())"
PAGE = "https://example.com/drill"
TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename"
# What a restore alters, so that cursors of before are refused.
ALTERED = "changes_changelog"
UNLOGGED = (
    "SELECT count(*) FROM messaging_message m WHERE NOT EXISTS (SELECT FROM changes_change WHERE message_id = m.id)"
)


class Writer(threading.Thread):
    """Writes posts, and notes when each was begun and acknowledged."""

    def __init__(self, port: int, page_id: str, person: Person) -> None:
        super().__init__(daemon=True)
        self.remote, self.page_id = Remote(port, person.user), page_id
        self.begun: dict[str, datetime] = {}
        self.acknowledged: dict[str, datetime] = {}
        self.stopping = False

    def run(self) -> None:
        while not self.stopping:
            content = str(uuid4())
            self.begun[content] = datetime.now(UTC)
            try:
                reply = self.remote.call("POST", "/api/messages", {"pageId": self.page_id, "content": content})
            except (OSError, HTTPException):
                continue
            if reply.status == 201:
                self.acknowledged[content] = datetime.now(UTC)
            time.sleep(0.01)

    def compare(self, found: set[str], moment: datetime) -> None:
        """What a database of that moment has of the posts."""
        by_then = {content for content, at in self.acknowledged.items() if at <= moment}
        assert len(by_then) >= 10
        assert by_then <= found
        assert not found & {content for content, at in self.begun.items() if at > moment}

    def wait_for(self, posts: int) -> None:
        enough = len(self.acknowledged) + posts
        assert eventually(lambda: len(self.acknowledged) >= enough)


@contextmanager
def writing(service: Service, page_id: str, person: Person) -> Iterator[Writer]:
    writer = Writer(service.port, page_id, person)
    writer.start()
    try:
        yield writer
    finally:
        writer.stopping = True
        writer.join(PATIENCE_SECONDS)


def manage(service: Service, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command, environment = [sys.executable, "manage.py", *arguments], service.environment | variables
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def backed_up(service: Service, *arguments: str) -> None:
    done = manage(service, "backup", *arguments)
    assert done.returncode == 0, done.stderr


def restored(service: Service, *arguments: str, **variables: str) -> None:
    done = manage(service, "restore", *arguments, **variables)
    assert done.returncode == 0, done.stderr


def refused(service: Service, *arguments: str, **variables: str) -> str:
    done = manage(service, *arguments, **variables)
    assert done.returncode == 1, done.stdout
    assert "Traceback" not in done.stderr
    return done.stderr.strip().splitlines()[-1]


def contents(url: str, page_id: str) -> set[str]:
    with psycopg.connect(url) as session:
        rows = session.execute("SELECT content FROM messaging_message WHERE page_id = %s", [page_id])
        return {row[0] for row in rows}


def all_rows(url: str) -> dict[str, list[str]]:
    """The rows of each table as text, in an order of their own."""
    with psycopg.connect(url) as session:
        names = [name for (name,) in session.execute(TABLES) if name != ALTERED]
        query = sql.SQL("SELECT row::text FROM {} AS row ORDER BY 1")
        return {name: [text for (text,) in session.execute(query.format(sql.Identifier(name)))] for name in names}


def value_of(url: str, query: str) -> Any:
    with psycopg.connect(url) as session:
        row = session.execute(query.encode()).fetchone()
        assert row
        return row[0]


def archive_all(service: Service) -> None:
    with psycopg.connect(service.cluster.url, autocommit=True) as session:
        row = session.execute(SWITCH).fetchone()
        assert row
        assert eventually(lambda: session.execute(ARCHIVED, row).fetchone() == (True,)), service.cluster.folder


def destroy(service: Service) -> None:
    """As the loss of the disk with the data."""
    assert service.process
    service.process.kill()
    service.process.wait()
    service.cluster.stop("immediate")
    shutil.rmtree(service.cluster.folder)


def by_hand(home: Path, moment: datetime, page_id: str, writer: Writer) -> None:
    """The recipe of docs/operations.md for a server of one's own, which this is."""
    server = Server("own", home, Place(), free_port(), {}, list)
    shutil.copytree(home / "backup" / "postgres", server.folder)
    (server.folder / "recovery.signal").touch()
    recipe = re.search(r"```\n(restore_command.*?)```", (ROOT / "docs/operations.md").read_text(), re.DOTALL)
    assert recipe
    lines = recipe[1].replace("/archive", str(home / "wal archive")).replace("2026-03-01 17:59:00+00", str(moment))
    with (server.folder / "postgresql.auto.conf").open("a") as settings:
        settings.write(lines)
    server.folder.chmod(0o700)
    if os.geteuid() == 0:
        for path in (server.folder, *server.folder.rglob("*")):
            os.chown(path, owner().pw_uid, owner().pw_gid)
    url = f"postgresql://{SUPERUSER}@/{DATABASE}?host={server.folder}&port={server.port}"
    listens = f"-c port={server.port} -c listen_addresses= -c unix_socket_directories={server.folder}"
    try:
        server.run("pg_ctl", "start", "--wait", "-D", server.folder, "-l", server.folder / "log", "-o", listens)
        assert eventually(lambda: value_of(url, "SELECT pg_is_in_recovery()") is False)
        with psycopg.connect(url) as session:
            begin_again_by_hand(session)
        writer.compare(contents(url, page_id), moment)
    finally:
        server.stop("immediate")
        shutil.rmtree(server.folder)


def cursor(service: Service) -> str:
    return str(Remote(service.port).call("GET", "/v1/changes").json["nextCursor"])


def test_a_restore_to_a_moment_has_exactly_what_was_acknowledged_by_then() -> None:
    with a_service(**SETTINGS, **SECRETS, WAL_ARCHIVE_SECONDS="600") as service:
        # Not in pytest's own folder, which each run closes to other users, such as the one of PostgreSQL.
        home = service.data.parent
        service.environment["WAL_ARCHIVE"], backup = str(home / "wal archive"), home / "backup"
        service.copy_template()
        service.start()
        clients = Clients(service)
        page_id, person = clients.page_id(PAGE), clients.person()
        with writing(service, page_id, person) as writer:
            writer.wait_for(5)
            backed_up(service, str(backup))
            writer.wait_for(5)
            moment = datetime.now(UTC)
            writer.wait_for(5)
        last_cursor = cursor(service)
        archive_all(service)
        destroy(service)

        by_hand(home, moment, page_id, writer)
        restored(service, str(backup), "--until", moment.isoformat())
        service.start()
        writer.compare(contents(service.cluster.url, page_id), moment)
        expired = Remote(service.port).call("GET", f"/v1/changes?cursor={last_cursor}")
        assert (expired.status, expired.error) == (410, "cursor_expired")
        clients.reconnect()
        after = clients.ask("/api/messages", {"pageId": page_id, "content": "after"}, **person.user)
        between = cursor(service)
        assert "stop" in refused(service, "restore", str(backup), "--force")
        archive_all(service)
        assert service.stop() == 0

        # Without a moment, all that the archive has; the first timeline is the history before the first restore.
        assert "--force" in refused(service, "restore", str(backup))
        restored(service, str(backup), "--force", "--timeline", "1")
        service.start()
        found = contents(service.cluster.url, page_id)
        assert writer.acknowledged.keys() <= found
        assert after["content"] not in found
        assert Remote(service.port).call("GET", f"/v1/changes?cursor={between}").status == 410
        assert service.stop() == 0
        assert not list(home.glob(".*.part"))


def test_a_logical_backup_has_exactly_the_rows_of_its_moment_in_an_empty_database() -> None:
    with a_service(**SETTINGS, **SECRETS) as service:
        home = service.data.parent
        service.copy_template()
        service.start()
        clients = Clients(service)
        page_id, person, token = clients.page_id(PAGE), clients.person(), clients.agent_token()
        once = {"pageId": page_id, "content": "once"}
        first = Remote(service.port).call("POST", "/api/messages", once, key="a-key-of-the-drill", **bearer(token))
        assert first.status == 201
        with writing(service, page_id, person) as writer:
            writer.wait_for(5)
            began = datetime.now(UTC)
            backed_up(service, str(home / "busy"), "--logical")
            ended = datetime.now(UTC)
            writer.wait_for(5)
        assert service.stop() == 0
        service.cluster.start()
        url = service.cluster.url
        rows = all_rows(url)
        assert len(rows["messaging_message"]) > 10
        backed_up(service, str(home / "quiet"), "--logical")
        with psycopg.connect(url) as session:
            session.execute("UPDATE messaging_message SET content = 'after the backup'")

        with empty_database(url) as busy:
            restored(service, str(home / "busy"), DATABASE_URL=busy)
            found = contents(busy, page_id)
            assert {content for content, at in writer.acknowledged.items() if at <= began} <= found
            assert not {content for content, at in writer.begun.items() if at > ended} & found
            assert value_of(busy, UNLOGGED) == 0
        with empty_database(url) as quiet:
            wrong = {"TOKEN_PEPPER": SECRETS["TOKEN_PEPPER"] + "x", "DATABASE_URL": quiet}
            assert "TOKEN_PEPPER is not of the service" in refused(service, "restore", str(home / "quiet"), **wrong)
            assert value_of(quiet, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == 0
            restored(service, str(home / "quiet"), DATABASE_URL=quiet)
            assert all_rows(quiet) == rows
            # With the secrets, tokens are valid and stored responses readable.
            with a_service(**SETTINGS, **SECRETS, DATABASE_URL=quiet) as other:
                other.start()
                remote = Remote(other.port)
                again = remote.call("POST", "/api/messages", once, key="a-key-of-the-drill", **bearer(token))
                assert (again.status, again.body) == (201, first.body)
                assert again.headers["idempotent-replayed"] == "true"
