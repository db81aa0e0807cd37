"""The log after a crash of PostgreSQL and after the promotion of a standby, with a cluster of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

import pytest
from django.core.management import call_command
from django.db import connection
from pytest_django import DjangoDbBlocker

from kernel.changes import reading
from kernel.changes.channels import Channel
from kernel.changes.log import NewChange, append
from kernel.changes.models import Change
from kernel.changes.reading import Batch, CursorExpired
from kernel.changes.rows import Cursor, Position
from kernel.changes.unread import find_pending
from kernel.changes.wakeups import NOTIFY_UNFLUSHED
from kernel.database import urls
from kernel.database.sql import execute
from runtime.postgres import Cluster
from runtime.postgres_binaries import hand_over
from tests.temporary_cluster import TemporaryCluster

pytestmark = [pytest.mark.slow, pytest.mark.processes]

COMMUNITY = UUID(int=1)
# Commits are flushed at once, and nothing else within the test.
DURABLE = {"synchronous_commit": "on", "wal_writer_delay": "10s"}


@pytest.fixture(scope="module")
def migrated_cluster(django_db_blocker: DjangoDbBlocker) -> Iterator[Cluster]:
    """A cluster with a log, which Django is connected to."""
    temporary = TemporaryCluster(DURABLE)
    connection.close()
    former = dict(connection.settings_dict)
    connection.settings_dict |= urls.database(temporary.url, statement_timeout=0) | {"OPTIONS": former["OPTIONS"]}
    try:
        with django_db_blocker.unblock():
            call_command("migrate", "changes", verbosity=0)
            yield temporary.cluster
            connection.close()
    finally:
        connection.settings_dict |= former
        temporary.close()


@pytest.fixture
def cluster(migrated_cluster: Cluster) -> Cluster:
    """A cluster with an empty log."""
    Change.objects.all().delete()
    return migrated_cluster


def write(page: str) -> None:
    append([NewChange(type="message.created", page_id=page, community_id=COMMUNITY)])


def read(after: Cursor | None = None) -> Batch:
    return reading.read(Channel(), after, limit=10)


def crash(cluster: Cluster) -> None:
    cluster.stop("immediate")
    cluster.start()
    connection.close()


def test_a_crash_hides_no_later_row_from_a_reader(cluster: Cluster) -> None:
    """Transaction ids that no flushed commit follows are assigned again after a crash."""
    community = Channel(community_id=COMMUNITY)
    write("before")
    execute(NOTIFY_UNFLUSHED)
    cursors = [
        read().next,
        reading.read(Channel(page_id="none"), None, limit=10).next,
        reading.now(),
        find_pending({"reader": (community, reading.now())}).now,
    ]
    crash(cluster)
    write("after")
    for cursor in cursors:
        assert [row.page_id for row in read(cursor).rows] == ["after"]
        assert find_pending({"reader": (community, cursor)}).keys == {"reader"}


def test_a_promoted_standby_that_may_lack_rows_expires_the_cursors_of_before(cluster: Cluster) -> None:
    write("before")
    cursor = read().next
    start_as_standby(cluster)
    assert read(cursor) == Batch([], cursor)
    ahead = Cursor(cursor.generation, Position(cursor.position.xid + 9, 1))
    assert read(ahead) == Batch([], ahead), "a standby may lag behind"
    execute("SELECT pg_promote()")
    with pytest.raises(CursorExpired):
        read(cursor)
    write("after")
    assert [row.page_id for row in read().rows] == ["before", "after"]
    assert [row.page_id for row in read(Cursor(cursor.generation + 1, cursor.position)).rows] == ["after"]


def test_a_promoted_standby_of_a_synchronous_primary_goes_on(cluster: Cluster) -> None:
    """Each reader gets every later row once, also if the last row that it has got was lost."""
    write("before")
    cursor = read().next
    with commits_for_standbys():
        start_as_standby(cluster)
        execute("SELECT pg_promote()")
        execute("SET synchronous_commit = local")
        assert read(cursor) == Batch([], cursor)
        write("after")
        lost = Cursor(cursor.generation, Position(cursor.position.xid + 1_000, 10**9))
        for reader in (cursor, lost):
            batch = read(reader)
            assert [row.page_id for row in batch.rows] == ["after"]
            assert find_pending({"reader": (Channel(community_id=COMMUNITY), reader)}).keys == {"reader"}
            assert read(batch.next).rows == []
        assert [row.page_id for row in read().rows] == ["before", "after"]


@contextmanager
def commits_for_standbys() -> Iterator[None]:
    """From the next start of PostgreSQL."""
    execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
    try:
        yield
    finally:
        execute("SET synchronous_commit = local")
        execute("ALTER SYSTEM RESET synchronous_standby_names")
        execute("SELECT pg_reload_conf()")
        connection.close()


def start_as_standby(cluster: Cluster) -> None:
    """Without a primary: until it is promoted, it has the rows of before."""
    cluster.stop()
    (cluster.folder / "standby.signal").touch()
    hand_over(cluster.folder)
    cluster.start()
    connection.close()
