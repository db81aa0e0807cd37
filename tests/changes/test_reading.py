"""Reading the log from a cursor: the horizon, rare types, pruning, and a log restored from a dump."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.db import connection, transaction

from kernel.changes import pruning, reading
from kernel.changes.channels import Channel
from kernel.changes.log import APPEND, NewChange, append
from kernel.changes.models import Change, ChangeLog
from kernel.changes.pruning import prune
from kernel.changes.reading import Batch, CursorExpired
from kernel.changes.restored import adopt_restored_log
from kernel.changes.rows import Cursor, Position
from kernel.changes.unread import find_pending
from kernel.database.sql import database_now, execute
from tests.agents.racing import race

pytestmark = pytest.mark.django_db
committed = pytest.mark.django_db(transaction=True)
ALL = Channel()


@contextmanager
def session(**options: Any) -> Iterator[psycopg.Connection]:
    """Another session of this database, or of `dbname`."""
    with psycopg.connect(**connection.get_connection_params() | options) as other:
        yield other


def write(*pages: str, **fields: Any) -> None:
    """One transaction with a public change of each page."""
    append([NewChange(type="message.created", page_id=page, **fields) for page in pages])


def pages(batch: Batch) -> list[str | None]:
    return [row.page_id for row in batch.rows]


def read(after: Cursor | None = None, channel: Channel = ALL, limit: int = 100) -> Batch:
    return reading.read(channel, after, limit=limit)


@committed
def test_rows_wait_for_an_open_transaction_with_a_lower_id_and_are_not_lost() -> None:
    with session() as other:
        other.execute(APPEND, {"changes": '[{"type": "message.created", "page_id": "early"}]'})
        write("late")
        waiting = read()
        assert pages(waiting) == []
        assert not waiting.has_more
        assert pages(read(reading.now())) == []
        other.commit()
    assert pages(read(waiting.next)) == ["early", "late"]


@committed
def test_rows_before_an_open_transaction_are_read() -> None:
    write("before")
    with session() as other:
        other.execute("SELECT pg_current_xact_id()")
        first = read()
        assert pages(first) == ["before"]
        write("after")
        assert pages(read(first.next)) == []
        other.rollback()
    assert pages(read(first.next)) == ["after"]


@committed
def test_a_transaction_that_only_reads_does_not_delay_readers() -> None:
    with session() as other:
        other.execute("SELECT count(*) FROM changes_change")
        write("now")
        assert pages(read()) == ["now"]


@committed
def test_a_transaction_of_another_database_does_not_delay_readers() -> None:
    with session(dbname="postgres") as other:
        other.execute("SELECT pg_current_xact_id()")
        write("now")
        assert pages(read()) == ["now"]


@committed
def test_rows_of_an_aborted_transaction_are_never_read() -> None:
    start = reading.now()
    with session() as other:
        other.execute(APPEND, {"changes": '[{"type": "message.created", "page_id": "aborted"}]'})
        other.rollback()
    write("committed")
    assert pages(read(start)) == ["committed"]


@committed
def test_a_reader_gets_the_rows_of_its_own_transaction() -> None:
    write("before")
    with transaction.atomic():
        write("own 1")
        first = read()
        assert pages(first) == ["before", "own 1"]
        tail = reading.now()
        write("own 2")
        assert pages(read(first.next)) == pages(read(tail)) == ["own 2"]
    assert pages(read(first.next)) == ["own 2"]


def test_a_limit_splits_the_rows_of_one_transaction() -> None:
    write("a", "b", "c")
    first = read(limit=2)
    assert (pages(first), first.has_more) == (["a", "b"], True)
    second = read(first.next, limit=2)
    assert (pages(second), second.has_more) == (["c"], False)


def test_a_rare_type_is_found_beyond_the_rows_that_one_call_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "SCAN_MAX", 10)
    for number in range(35):
        append([NewChange(type="reaction.added" if number == 33 else "message.created", page_id="p")])
    for place in ({}, {"page_id": "p"}):
        batches = list(all_batches(Channel(**place, types=frozenset({"reaction.added"})), limit=5))
        assert [len(batch.rows) for batch in batches] == [0, 0, 0, 1]
        assert [batch.has_more for batch in batches] == [True, True, True, False]


def test_events_of_inboxes_do_not_hide_public_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "SCAN_MAX", 4)
    append([NewChange(type="reply", account_id=UUID(int=1))] * 9)
    write("public")
    found = [page for batch in all_batches(ALL, limit=2) for page in pages(batch)]
    assert found == ["public"]


def all_batches(channel: Channel, *, limit: int) -> Iterator[Batch]:
    batch = read(None, channel, limit)
    yield batch
    while batch.has_more:
        batch = read(batch.next, channel, limit)
        yield batch


def test_a_cursor_expires_exactly_if_rows_after_it_are_deleted() -> None:
    for number in range(6):
        write(str(number))
    rows = read().rows
    cursors = [Cursor(0, Position(rows[0].xid, 0)), *(Cursor(0, row.position) for row in rows)]
    Change.objects.filter(page_id__in=["0", "1", "2"]).update(at=database_now() - timedelta(days=31))
    assert prune(now=database_now(), dry_run=True) == {"changes": 3}
    assert all(read(cursor) for cursor in cursors)
    assert prune(now=database_now(), dry_run=False) == {"changes": 3}
    for after, cursor in enumerate(cursors):
        if after < 3:
            with pytest.raises(CursorExpired):
                read(cursor)
        else:
            assert pages(read(cursor)) == [str(number) for number in range(after, 6)]
    assert pages(read()) == ["3", "4", "5"], "without a cursor: from the oldest that is stored"


def test_a_younger_row_before_old_ones_stays_and_they_stay_with_it() -> None:
    """Times are not in the order of the log; rows are deleted from its beginning only."""
    for number in range(3):
        write(str(number))
    Change.objects.filter(page_id__in=["0", "2"]).update(at=database_now() - timedelta(days=31))
    assert prune(now=database_now(), dry_run=False) == {"changes": 1}
    assert pages(read()) == ["1", "2"]


@committed
def test_prune_deletes_no_row_that_readers_cannot_have_read() -> None:
    with session() as other:
        other.execute("SELECT pg_current_xact_id()")
        write("old")
        Change.objects.update(at=database_now() - timedelta(days=31))
        assert prune(now=database_now(), dry_run=False) == {"changes": 0}
    assert prune(now=database_now(), dry_run=False) == {"changes": 1}


@committed
def test_concurrent_prunes_delete_each_row_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pruning, "BATCH", 7)
    for number in range(50):
        write(str(number))
    Change.objects.exclude(page_id="49").update(at=database_now() - timedelta(days=31))
    now = database_now()
    deleted = race(4, lambda _number: prune(now=now, dry_run=False)["changes"])
    assert sum(deleted) == 49
    assert pages(read()) == ["49"]


def restore(*, raised_by: int = 0) -> None:
    """As after a restore into another cluster, where transaction ids are lower."""
    execute("UPDATE changes_change SET xid = xid + %s WHERE xid > 0", [raised_by])
    ChangeLog.objects.update(cluster="of another")


HIGHER = 10**15


def test_a_restored_log_gets_positions_before_new_rows_in_the_same_order() -> None:
    write("a", "b")
    write("c")
    cursors = [Cursor(0, row.position) for row in read().rows]
    restore(raised_by=HIGHER)
    adopt_restored_log(using="default")
    write("d")
    assert pages(read()) == ["a", "b", "c", "d"]
    for cursor in cursors:
        with pytest.raises(CursorExpired):
            read(cursor)
    rows = read().rows
    assert [pages(read(Cursor(1, row.position))) for row in rows] == [["b", "c", "d"], ["c", "d"], ["d"], []]


def test_a_log_is_adopted_once_and_again_after_another_restore() -> None:
    write("a")
    restore(raised_by=HIGHER)
    for _ in range(2):
        adopt_restored_log(using="default")
        assert ChangeLog.objects.get().generation == 1
    write("b")
    restore(raised_by=HIGHER)
    adopt_restored_log(using="default")
    write("c")
    assert ChangeLog.objects.get().generation == 2
    assert pages(read()) == ["a", "b", "c"]


def test_a_log_of_a_cluster_with_lower_transaction_ids_is_adopted_without_new_positions() -> None:
    write("a", "b")
    before = read()
    restore()
    adopt_restored_log(using="default")
    write("c")
    assert [row.position for row in read().rows[:2]] == [row.position for row in before.rows]
    assert pages(read(Cursor(1, before.next.position))) == ["c"]
    with pytest.raises(CursorExpired):
        read(before.next)


def test_an_empty_log_of_another_cluster_is_adopted() -> None:
    ChangeLog.objects.update(pruned_xid=HIGHER, pruned_id=7)
    restore()
    first = read()
    assert first.next.generation == 1
    write("a")
    assert pages(read(first.next)) == pages(read()) == ["a"]


@committed
@pytest.mark.parametrize("raised_by", [0, HIGHER])
def test_a_running_process_adopts_the_log_once(raised_by: int) -> None:
    write("a")
    cursor = read().next
    restore(raised_by=raised_by)

    def expires(reader: int) -> None:
        with pytest.raises(CursorExpired):
            read(cursor)

    race(4, expires)
    assert ChangeLog.objects.get().generation == reading.now().generation == 1
    assert pages(read()) == ["a"]


@pytest.mark.parametrize("channel", [ALL, Channel(page_id="a"), Channel(page_id="none")], ids=["all", "page", "none"])
def test_a_reader_with_nothing_to_read_gets_the_position_of_the_newest_row(channel: Channel) -> None:
    assert read(channel=channel).next == reading.now() == Cursor(0, Position(0, 0)), "the log is empty"
    write("a", "b")
    append([NewChange(type="reply", account_id=UUID(int=1))])
    newest = Change.objects.order_by("-xid", "-id")[0]
    assert read(channel=channel).next == reading.now() == Cursor(0, Position(newest.xid, newest.id))


def test_a_cursor_with_nothing_after_it_survives_the_deletion_of_every_row() -> None:
    write("a", "b")
    cursor = read(channel=Channel(page_id="none")).next
    Change.objects.update(at=database_now() - timedelta(days=31))
    prune(now=database_now(), dry_run=False)
    assert read(cursor).next == reading.now() == cursor


def test_the_cursor_of_a_lost_row_is_expired() -> None:
    write("a", "b")
    cursor = read().next
    Change.objects.filter(page_id="b").delete()
    with pytest.raises(CursorExpired):
        read(cursor)
    assert find_pending({"reader": (Channel(account_id=UUID(int=1)), cursor)}).keys == {"reader"}
    assert find_pending({"reader": (Channel(account_id=UUID(int=1)), reading.now())}).keys == frozenset()


def test_migrations_of_the_same_cluster_change_no_position() -> None:
    write("a")
    position = read().rows[0].position
    adopt_restored_log(using="default")
    assert read().rows[0].position == position
