"""The drill: write, back up, write on, destroy, restore to a moment: exactly what was acknowledged by then."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.client import HTTPException
from uuid import uuid4

import psycopg

from tests.clients import Clients, Person
from tests.faults.environment import SETTINGS
from tests.faults.hosts import SECRETS
from tests.remote import Remote
from tests.service import ROOT, Service, a_service
from tests.waiting import eventually

ARCHIVED = "SELECT last_archived_wal >= %s FROM pg_stat_archiver"
SWITCH = "SELECT pg_walfile_name(pg_switch_wal())"
PAGE = "https://example.com/drill"


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
        writer.join()


def manage(service: Service, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(command, cwd=ROOT, env=service.environment, capture_output=True, text=True, check=False)


def backed_up(service: Service, *arguments: str) -> None:
    done = manage(service, "backup", *arguments)
    assert done.returncode == 0, done.stderr


def restored(service: Service, *arguments: str) -> None:
    done = manage(service, "restore", *arguments)
    assert done.returncode == 0, done.stderr


def refused(service: Service, *arguments: str) -> str:
    done = manage(service, *arguments)
    assert done.returncode == 1, done.stdout
    assert "Traceback" not in done.stderr
    return done.stderr.strip().splitlines()[-1]


def contents(service: Service, page_id: str) -> set[str]:
    with psycopg.connect(service.cluster.url) as session:
        rows = session.execute("SELECT content FROM messaging_message WHERE page_id = %s", [page_id])
        return {row[0] for row in rows}


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


def cursor(service: Service) -> str:
    return str(Remote(service.port).call("GET", "/v1/changes").json["nextCursor"])


def test_a_restore_to_a_moment_has_exactly_what_was_acknowledged_by_then() -> None:
    with a_service(**SETTINGS, **SECRETS, WORKERS="1", WAL_ARCHIVE_SECONDS="600") as service:
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

        too_early = datetime.fromisoformat("2026-01-01T00:00:00+00:00").isoformat()
        assert "use an earlier backup" in refused(service, "restore", str(backup), "--until", too_early)
        restored(service, str(backup), "--until", moment.isoformat())
        service.start()
        by_then = {content for content, at in writer.acknowledged.items() if at <= moment}
        later = {content for content, at in writer.begun.items() if at > moment}
        found = contents(service, page_id)
        assert len(by_then) >= 10
        assert by_then <= found
        assert not found & later
        expired = Remote(service.port).call("GET", f"/v1/changes?cursor={last_cursor}")
        assert (expired.status, expired.error) == (410, "cursor_expired")
        clients.reconnect()
        after = clients.ask("/api/messages", {"pageId": page_id, "content": "after"}, **person.user)
        between = cursor(service)
        assert f"{service.cluster.folder}" in refused(service, "backup", str(service.cluster.folder))
        assert "stop" in refused(service, "restore", str(backup), "--force")
        archive_all(service)
        assert service.stop() == 0

        # Without a moment, all that the archive has; the first timeline is the history before the first restore.
        assert "--force" in refused(service, "restore", str(backup))
        restored(service, str(backup), "--force", "--timeline", "1")
        service.start()
        found = contents(service, page_id)
        assert writer.acknowledged.keys() <= found
        assert after["content"] not in found
        assert Remote(service.port).call("GET", f"/v1/changes?cursor={between}").status == 410
        assert service.stop() == 0
        assert not list(home.glob(".*.part"))
