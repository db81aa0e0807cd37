"""Analytics under concurrent calls, and after a crash."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from django.db import connection, transaction

from embeds.analytics import ingest, rollup
from embeds.analytics import ingest as salts
from embeds.analytics import rollup as retention
from embeds.analytics.rollup import roll_up
from embeds.analytics.summary import Summary, summarize
from embeds.models import DailyCount, DailyVisitors
from kernel.writes import deletion
from tests.embeds.making import an_embed, rows_of, send
from tests.temporary_cluster import TemporaryCluster
from tests.waiting import PATIENCE_SECONDS

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
DAY = NOON.date()
ring = import_module("embeds.migrations.0002_raw_events")


@pytest.fixture(autouse=True)
def _empty_rings(transactional_db: None) -> Iterator[None]:
    """Django truncates the tables of models only; these two have no model."""
    yield
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE embeds_event, embeds_visitor")


def in_threads(*works: Callable[[], Any]) -> list[Any]:
    def closing(work: Callable[[], Any]) -> Any:
        try:
            return work()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(works)) as pool:
        return [future.result() for future in [pool.submit(closing, work) for work in works]]


def summary_of(embed_id: Any) -> Summary:
    return summarize(embed_id=embed_id, first=DAY, last=DAY)


def test_concurrent_roll_ups_count_every_event_once() -> None:
    """With four senders, three roll-ups and a reader, the sum only grows, and the last one is exact."""
    embed, each, done = an_embed(), 60, threading.Event()
    seen: list[int] = []

    def sender(number: int) -> None:
        for n in range(each):
            send(embed, f"own_{n % 60}", NOON, path=f"/{n % 7}", address=f"192.0.2.{number}")

    def roller() -> int:
        moved = 0
        while not done.is_set():
            moved += roll_up(at=NOON)
        return moved

    def reader() -> None:
        while not done.is_set():
            seen.append(summary_of(embed.pk).counts.total())

    def all_senders() -> None:
        try:
            in_threads(*(lambda number=number: sender(number) for number in range(4)))
        finally:
            done.set()

    moved = in_threads(all_senders, roller, roller, roller, reader)[1:4]
    assert sum(moved) + roll_up(at=NOON) == 4 * each
    after = summary_of(embed.pk)
    assert (after.counts.total(), after.visitors) == (4 * each, {DAY: 4})
    assert len(after.counts) == 51
    assert seen == sorted(seen)
    assert rows_of("embeds_event") == 0


def three_embeds() -> list[Any]:
    """Embeds with two, three and four events, of two visitors each, the first of which was rolled up before."""
    embeds = [an_embed() for _ in range(3)]
    for number, embed in enumerate(embeds):
        for n in range(number + 2):
            send(embed, "trigger_view", NOON, path=f"/{n}", address=f"192.0.2.{n % 2}")
        if number == 0:
            roll_up(at=NOON)
            send(embed, "trigger_view", NOON, address="192.0.2.0")
    return embeds


def transactions_of_counts() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT DISTINCT xmin::text FROM embeds_dailycount")
        return {xid for (xid,) in cursor.fetchall()}


def test_each_transaction_moves_the_events_of_a_few_embeds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streams wait for the oldest transaction."""
    embeds = three_embeds()
    before = [summary_of(embed.pk) for embed in embeds]
    monkeypatch.setattr(rollup, "BATCH", 1)
    earlier = transactions_of_counts()
    assert roll_up(at=NOON) == 1 + 3 + 4
    assert len(transactions_of_counts() - earlier) == 3
    assert [summary_of(embed.pk) for embed in embeds] == before
    assert [(each.counts.total(), each.visitors) for each in before] == [(count, {DAY: 2}) for count in (3, 3, 4)]
    assert (rows_of("embeds_event"), roll_up(at=NOON)) == (0, 0)


def test_a_crash_between_two_transactions_leaves_exact_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    embeds = three_embeds()
    before = [summary_of(embed.pk) for embed in embeds]
    monkeypatch.setattr(rollup, "BATCH", 1)
    move = rollup._move

    def crash_at_the_last(moved: list[Any]) -> int:
        if moved == [max(embed.pk for embed in embeds)]:
            raise KeyboardInterrupt
        return move(moved)

    with monkeypatch.context() as patch:
        patch.setattr(rollup, "_move", crash_at_the_last)
        with pytest.raises(KeyboardInterrupt):
            roll_up(at=NOON)
    assert rows_of("embeds_event") == 4
    assert [summary_of(embed.pk) for embed in embeds] == before
    assert roll_up(at=NOON) == 4
    assert [summary_of(embed.pk) for embed in embeds] == before


def test_old_counts_are_deleted_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each in its own transaction: streams wait for the oldest one."""
    monkeypatch.setattr(deletion, "BATCH", 10)
    old, deleting = DAY - timedelta(days=900), []
    DailyCount.objects.bulk_create(
        DailyCount(embed_id=uuid4(), day=day, path=f"/{n}", event="e", count=1) for n in range(25) for day in (old, DAY)
    )
    DailyVisitors.objects.bulk_create(DailyVisitors(embed_id=uuid4(), day=old, visitors=1) for _ in range(12))

    def record(run: Callable[..., Any], statement: str, values: Any, many: bool, context: Any) -> Any:
        result = run(statement, values, many, context)
        if "DELETE FROM" in statement and "embeds_dailycount" in statement:
            deleting.append((context["cursor"].rowcount, connection.in_atomic_block))
        return result

    with connection.execute_wrapper(record):
        counts = retention.prune(now=NOON, dry_run=False)
    assert (counts["analytics counts"], counts["analytics visitor counts"]) == (25, 12)
    assert deleting == [(10, False), (10, False), (5, False)]
    assert set(DailyCount.objects.values_list("day", flat=True)) == {DAY}
    assert not DailyVisitors.objects.exists()


def test_event_committed_after_a_roll_up_is_counted_by_the_next() -> None:
    embed, written, rolled = an_embed(), threading.Event(), threading.Event()

    def slow_sender() -> None:
        with transaction.atomic():
            send(embed, "late", NOON)
            written.set()
            assert rolled.wait(PATIENCE_SECONDS)

    def roller() -> int:
        assert written.wait(PATIENCE_SECONDS)
        try:
            return roll_up(at=NOON)
        finally:
            rolled.set()

    salts.salt_of(DAY)
    assert in_threads(slow_sender, roller)[1] == 0
    assert summary_of(embed.pk).counts["late"] == 1
    assert roll_up(at=NOON) == 1
    assert summary_of(embed.pk).counts["late"] == 1


def test_concurrent_first_calls_get_one_salt() -> None:
    """Eight threads with an empty cache request the salt of a day at the same time."""
    barrier = threading.Barrier(8)

    def first() -> bytes:
        barrier.wait()
        with transaction.atomic():
            salts.cached.clear()
            return salts.salt_of(DAY)

    assert len(set(in_threads(*[first] * 8))) == 1


def test_salt_is_cached_only_after_the_commit() -> None:
    with transaction.atomic():
        salts.salt_of(DAY)
        transaction.set_rollback(True)
    assert not salts.cached
    salt = salts.salt_of(DAY)
    assert salts.cached == {DAY: salt}


def test_only_the_transaction_of_an_event_commits_asynchronously() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET synchronous_commit = on")
        with transaction.atomic():
            send(an_embed(), "embed_load", NOON)
            cursor.execute("SHOW synchronous_commit")
            assert cursor.fetchone() == ("off",)
        cursor.execute("SHOW synchronous_commit")
        assert cursor.fetchone() == ("on",)


@pytest.mark.slow
@pytest.mark.processes
def test_crash_loses_no_event_older_than_a_second() -> None:
    """PostgreSQL is killed a second after the last insert; after its restart, every event is stored."""
    cluster = TemporaryCluster({"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on"})
    try:
        with psycopg.connect(cluster.url, autocommit=True) as session:
            session.execute(ring.EVENTS + ring.partitions("embeds_event"))
            for n in range(100):
                session.execute(ingest.INSERT, [n % 4, DAY, uuid4(), "embed_load", "/", b"x"])
            time.sleep(1)
            cluster.cluster.stop("immediate")
        cluster.cluster.start()
        with psycopg.connect(cluster.url) as session:
            assert session.execute("SELECT count(*) FROM embeds_event").fetchone() == (100,)
    finally:
        cluster.close()
