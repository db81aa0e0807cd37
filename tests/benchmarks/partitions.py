"""`make bench-partitions`: what partitions of the posts by time cost and bring, beside one table of the same posts.

Fills a PostgreSQL of its own with the posts of 180 days twice: into one table, and into partitions of a month. Prints
for both the time of inserts, lists, vacuum and of deleting the oldest month, what they read and write, and the sizes of
indexes. `--buffers` is the memory of PostgreSQL, which the indexes of one table should outgrow. No trigger runs.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import psycopg

from runtime.postgres import DATABASE, Cluster
from tests.benchmarks.servers import SECRETS

POSTS, BUFFERS, READS, TRANSACTION = 2_000_000, "256MB", 300, 100
DIVIDED = "divided"
# What was measured, by its name.
Rows = dict[str, str]
INSERT = """
INSERT INTO messaging_message (id, page_id, author_id, author_kind, parent_id, status, content, attachments,
    reply_count, quote_count, reaction_counts, reaction_total, created_at, updated_at)
VALUES (uuidv7(), %s, md5('human' || %s::int)::uuid, 'human', NULL, 'published', %s, '[]', 0, 0, '{}', 0, now(), now())
"""
PARTITIONS = "SELECT relid::regclass::text FROM pg_partition_tree('messaging_message') WHERE isleaf"
BLOCKS = """
SELECT coalesce(sum(heap_blks_read + idx_blks_read), 0)::bigint FROM pg_statio_user_tables
WHERE relid = 'messaging_message'::regclass OR relid IN (SELECT relid FROM pg_partition_tree('messaging_message'))
"""
WAL = "SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint"
SIZES = "SELECT sum(pg_table_size(t))::float8, sum(pg_indexes_size(t))::float8 FROM unnest(%s::regclass[]) t"
# Reactions and edits are of new posts.
UPDATE = """
UPDATE messaging_message SET reaction_total = reaction_total + 1, status = 'published'
WHERE id >= %s AND get_byte(uuid_send(id), 15) < 16
"""
# Posts of the month that others reply to cannot be deleted.
UNLINK = """
UPDATE messaging_message m SET parent_id = NULL FROM messaging_message p
WHERE p.id = m.parent_id AND p.id >= %(first)s AND p.id < %(end)s
"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench-partitions", description=__doc__)
    parser.add_argument("--posts", type=int, default=POSTS, help=f"how many (default {POSTS:,})")
    parser.add_argument("--inserts", type=int, default=20_000, help="how many are added one by one (default 20,000)")
    parser.add_argument("--buffers", default=BUFFERS, help=f"shared_buffers (default {BUFFERS})")
    options = parser.parse_args()
    with TemporaryDirectory(prefix="cm-bench-") as folder:
        settings = {"shared_buffers": options.buffers, "max_wal_size": "16GB", "autovacuum": "off", "fsync": "off"}
        cluster = Cluster(Path(folder) / "postgres", settings | {"synchronous_commit": "off"})
        cluster.start()
        try:
            _set_up(cluster.url, folder)
            _print(_measure(cluster.url, options))
        finally:
            cluster.stop()


def _set_up(url: str, folder: str) -> None:
    os.environ |= SECRETS | {"DATABASE_URL": url, "STATEMENT_TIMEOUT": "0", "SLOW_STATEMENT_MS": "0", "DEBUG": "0"}
    os.environ |= {"DJANGO_SETTINGS_MODULE": "config.settings", "DATA_DIR": folder}
    os.environ |= {"BASE_URL": "https://service.example"}
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


def _measure(url: str, options: argparse.Namespace) -> dict[str, Rows]:
    from django.db import connection

    connection.close()
    with psycopg.connect(url.replace(f"/{DATABASE}?", "/postgres?"), autocommit=True) as session:
        session.execute(f"CREATE DATABASE {DIVIDED} TEMPLATE {DATABASE}")
    found = {}
    for name in (DATABASE, DIVIDED):
        connection.close()
        connection.settings_dict["NAME"] = name
        if name == DIVIDED:
            _divide()
        title = "one table" if name == DATABASE else "partitions"
        found[title] = _of_one(url.replace(f"/{DATABASE}?", f"/{name}?"), options)
    connection.close()
    return found


def _divide() -> None:
    """The empty table, by month."""
    from kernel.database.sql import database_now
    from messaging.posts.partitioning import converting, swapping
    from messaging.posts.partitioning import swapping as structure
    from messaging.posts.partitioning.swapping import AHEAD, next_partition
    from messaging.posts.partitioning.tables import BOUND_CHECK, FIRST, TABLE, Partition, first_id, month_after

    now = database_now()
    made = [Partition(FIRST, None, month_after(now, -4))]
    while made[-1].end < now + AHEAD:
        made.append(next_partition(made[-1].end, 1))
    bound = f"ALTER TABLE {TABLE} ADD CONSTRAINT {BOUND_CHECK} CHECK (id < '{first_id(made[0].end)}')"
    converting._run([bound, *swapping.to_partitions(structure.structure(), made)])
    converting._validate_references(lambda _line: None)


def _of_one(url: str, options: argparse.Namespace) -> Rows:
    from tests.benchmarks import bulk, data

    rows: Rows = {}
    with data.connect(url) as session:
        began = time.monotonic()
        pages = bulk.fill_posts(session, options.posts)
        rows["filling, with indexes, s"] = f"{time.monotonic() - began:.0f}"
        session.execute("SET session_replication_role = replica")
        leaves = [name for (name,) in session.execute(PARTITIONS)] or ["messaging_message"]
        _sizes(session, leaves, rows)
        _reads(session, rows)
        _inserts(session, pages, options.inserts, rows)
        _vacuum(session, rows)
        _deletion(session, rows)
    return rows


def _sizes(session: psycopg.Connection, leaves: list[str], rows: Rows) -> None:
    filled = [name for name in leaves if value(session, f"SELECT count(*) FROM (SELECT FROM {name} LIMIT 1) x")]
    rows["tables with posts"] = str(len(filled))
    table, indexes = session.execute(SIZES, [leaves]).fetchone() or (0, 0)
    rows["posts, MB"] = f"{table / 1e6:,.0f}"
    rows["their indexes, MB"] = f"{indexes / 1e6:,.0f}"
    newest = max(filled, key=lambda name: str(value(session, f"SELECT max(id::text) FROM {name}")))
    size = (session.execute(SIZES, [[newest]]).fetchone() or (0, 0))[1]
    rows["indexes that new posts write to, MB"] = f"{size / 1e6:,.0f}"


def _reads(session: psycopg.Connection, rows: Rows) -> None:
    """By the statements of the service; the median of READS, all with data in memory."""
    from messaging.posts.lists import MessageList, list_messages
    from messaging.posts.queries import visible_message

    posts = session.execute(
        "SELECT page_id, parent_id, id FROM messaging_message WHERE parent_id IS NOT NULL AND status = 'published' "
        "AND get_byte(uuid_send(id), 14) = 7 LIMIT %s",
        [READS],
    ).fetchall()
    kinds: dict[str, Callable[[Any], Any]] = {
        "a post by its id, µs": lambda row: visible_message(row[2]),
        "newest ten of a page, µs": lambda row: list_messages(MessageList(row[0]), limit=10),
        "replies to a post, µs": lambda row: list_messages(MessageList(row[0], row[1]), limit=10),
    }
    for name, read in kinds.items():
        for _warm in range(2):
            times = [seconds(lambda row=row, read=read: read(row)) for row in posts]  # type: ignore[misc]
        rows[name] = f"{median(times) * 1e6:,.0f}"


def _inserts(session: psycopg.Connection, pages: list[str], count: int, rows: Rows) -> None:
    """Into random pages, in transactions of TRANSACTION, after a checkpoint: pages of the disk are logged whole."""
    chosen, cursor = random.Random(1), psycopg.Cursor(session)
    session.execute("CHECKPOINT")
    session.execute("SELECT pg_stat_force_next_flush()")
    blocks, wal, began = value(session, BLOCKS), value(session, WAL), time.monotonic()
    for _ in range(count // TRANSACTION):
        with session.transaction():
            for _ in range(TRANSACTION):
                number = chosen.randrange(20_000) + 1
                values = [chosen.choice(pages), number, f"A new post. {'word ' * 25}"]
                cursor.execute(INSERT, values, prepare=True)
    spent = time.monotonic() - began
    session.execute("SELECT pg_stat_force_next_flush()")
    rows["an insert, µs"] = f"{spent / count * 1e6:,.0f}"
    rows["pages that it reads"] = f"{(value(session, BLOCKS) - blocks) / count:.2f}"
    rows["log of it after a checkpoint, bytes"] = f"{(value(session, WAL) - wal) / count:,.0f}"


def _vacuum(session: psycopg.Connection, rows: Rows) -> None:
    """After a sixteenth of the posts of the last month was updated."""
    from messaging.posts.partitioning.tables import first_id

    session.execute("VACUUM messaging_message")
    session.execute(UPDATE, [first_id(value(session, "SELECT date_trunc('month', now())"))])
    rows["vacuum after updates of new posts, s"] = _timed(session, "VACUUM messaging_message")


def _deletion(session: psycopg.Connection, rows: Rows) -> None:
    """The month that begins four months ago: a whole one. Without the triggers of foreign keys."""
    from messaging.posts.partitioning.tables import first_id, month_after

    month = month_after(value(session, "SELECT now()"), -4)
    bounds = {"first": first_id(month), "end": first_id(month_after(month, 1))}
    session.execute(UNLINK, bounds)
    session.execute("VACUUM messaging_message")
    name = f"messaging_message_{month:%Y_%m}"
    wal = value(session, WAL)
    if value(session, f"SELECT to_regclass('{name}') IS NULL"):
        delete = "DELETE FROM messaging_message WHERE id >= %(first)s AND id < %(end)s"
        rows["deletion of a month, s"] = _timed(session, delete, bounds)
        rows["vacuum after it, s"] = _timed(session, "VACUUM messaging_message")
    else:
        detach = f"ALTER TABLE messaging_message DETACH PARTITION {name}"
        drop = f"DROP TABLE {name}"
        began = time.monotonic()
        session.execute("SET session_replication_role = origin")
        session.execute(detach)
        session.execute(drop)
        rows["deletion of a month, s"] = f"{time.monotonic() - began:.2f}"
        rows["vacuum after it, s"] = "none"
    rows["log of the deletion, MB"] = f"{(value(session, WAL) - wal) / 1e6:,.1f}"
    sizes = session.execute(SIZES, [[name for (name,) in session.execute(PARTITIONS)] or ["messaging_message"]])
    table, indexes = sizes.fetchone() or (0, 0)
    rows["posts and indexes afterwards, MB"] = f"{(table + indexes) / 1e6:,.0f}"


def value(session: psycopg.Connection, query: str) -> Any:
    row = session.execute(query.encode()).fetchone()
    return row[0] if row else None


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _timed(session: psycopg.Connection, statement: str, values: dict[str, Any] | None = None) -> str:
    return f"{seconds(lambda: session.execute(statement.encode(), values)):.2f}"


def _print(found: dict[str, Rows]) -> None:
    names = dict.fromkeys(name for rows in found.values() for name in rows)
    lines = ((name, *(rows.get(name, "-") for rows in found.values())) for name in names)
    for name, *values in (("", *found), *lines):
        sys.stdout.write(f"{name:<40}{''.join(f'{text:>14}' for text in values)}\n")


if __name__ == "__main__":
    main()
