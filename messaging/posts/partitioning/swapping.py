"""The statements that make the table of posts a partitioned one, and back. No row is read, moved or written.

The names of the table, its indexes, triggers and foreign keys stay, so that neither the service nor a later migration
sees a difference. Foreign keys to posts are created again for the new table, NOT VALID: they check each later write,
and are validated afterwards.

The definitions that belong to the table of posts, as statements that create them.

Makes the partitions of the next months, before posts come that belong there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from kernel.database.locks import change_briefly
from kernel.database.sql import database_now, execute, fetch_all, fetch_one
from messaging.posts.partitioning import tables
from messaging.posts.partitioning.tables import (
    BOUND_CHECK,
    FIRST,
    REST,
    TABLE,
    Partition,
    first_id,
    month_after,
    months_between,
    time_of,
)

INDEXES = """
SELECT index.relname, coalesce(constraints.oid IS NOT NULL, false),
    coalesce(pg_get_constraintdef(constraints.oid), pg_get_indexdef(index.oid))
FROM pg_index JOIN pg_class index ON index.oid = indexrelid
LEFT JOIN pg_constraint constraints ON conindid = indexrelid AND contype IN ('p', 'u', 'x')
WHERE indrelid = to_regclass(%s) ORDER BY indisprimary DESC, index.relname
"""
TRIGGERS = """
SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger
WHERE tgrelid = to_regclass(%s) AND NOT tgisinternal AND tgparentid = 0 ORDER BY tgname
"""
REFERENCES = """
SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid), convalidated, confrelid::regclass::text
FROM pg_constraint
WHERE contype = 'f' AND conparentid = 0 AND (conrelid = to_regclass(%(table)s) OR confrelid = to_regclass(%(table)s))
ORDER BY 1, 2
"""
GRANTS = """
SELECT format('GRANT %%s ON %%s TO %%s%%s', privilege_type, to_regclass(%(table)s),
    CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END,
    CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
FROM pg_class, aclexplode(relacl) WHERE oid = to_regclass(%(table)s) AND grantee <> relowner
UNION ALL
SELECT format('ALTER TABLE %%s OWNER TO %%I', to_regclass(%(table)s), pg_get_userbyid(relowner))
FROM pg_class WHERE oid = to_regclass(%(table)s)
"""
# What a partitioned table cannot have, or what would stay with the table that becomes its first partition.
OBSTACLES = """
SELECT 'unique index ' || indexrelid::regclass::text FROM pg_index
WHERE indrelid = to_regclass(%(table)s) AND indisunique AND NOT indisprimary
UNION ALL SELECT 'invalid index ' || indexrelid::regclass::text FROM pg_index
WHERE indrelid = to_regclass(%(table)s) AND NOT indisvalid
UNION ALL SELECT 'row security' FROM pg_class WHERE oid = to_regclass(%(table)s) AND relrowsecurity
UNION ALL SELECT 'identity column ' || attname FROM pg_attribute
WHERE attrelid = to_regclass(%(table)s) AND attidentity <> ''
UNION ALL SELECT 'privileges of column ' || attname FROM pg_attribute
WHERE attrelid = to_regclass(%(table)s) AND attacl IS NOT NULL
UNION ALL SELECT 'disabled trigger ' || tgname FROM pg_trigger
WHERE tgrelid = to_regclass(%(table)s) AND NOT tgisinternal AND tgenabled <> 'O'
UNION ALL SELECT 'statistics ' || stxname FROM pg_statistic_ext WHERE stxrelid = to_regclass(%(table)s)
UNION ALL SELECT 'publication ' || pubname FROM pg_publication_rel JOIN pg_publication p ON p.oid = prpubid
WHERE prrelid = to_regclass(%(table)s)
UNION ALL SELECT DISTINCT 'view ' || ev_class::regclass::text FROM pg_depend JOIN pg_rewrite r ON r.oid = objid
WHERE classid = 'pg_rewrite'::regclass AND refobjid = to_regclass(%(table)s)
"""
INDEXES_OF_PARTITION = """
SELECT own.relname, parent.relname FROM pg_index JOIN pg_class own ON own.oid = indexrelid
JOIN pg_inherits ON inhrelid = indexrelid JOIN pg_class parent ON parent.oid = inhparent
WHERE indrelid = to_regclass(%s)
"""
NAME_MAX = 63


class Index(NamedTuple):
    name: str
    is_constraint: bool
    definition: str

    def statement(self) -> str:
        if self.is_constraint:
            return f'ALTER TABLE {TABLE} ADD CONSTRAINT "{self.name}" {self.definition}'
        return self.definition.replace(" ON ONLY ", " ON ", 1)


class Reference(NamedTuple):
    """A foreign key from, to or within the table of posts."""

    table: str
    name: str
    definition: str
    is_valid: bool
    target: str

    @property
    def is_outgoing(self) -> bool:
        return self.target != TABLE

    def drop(self) -> str:
        return f'ALTER TABLE {self.table} DROP CONSTRAINT "{self.name}"'

    def add(self) -> str:
        return f'ALTER TABLE {self.table} ADD CONSTRAINT "{self.name}" {self.definition.removesuffix(" NOT VALID")}'

    def validate(self) -> str:
        return f'ALTER TABLE {self.table} VALIDATE CONSTRAINT "{self.name}"'


@dataclass(frozen=True, slots=True)
class Structure:
    indexes: Sequence[Index]
    triggers: Sequence[tuple[str, str]]
    references: Sequence[Reference]
    grants: Sequence[str]

    @property
    def outgoing(self) -> list[Reference]:
        """To other tables."""
        return [reference for reference in self.references if reference.is_outgoing]

    @property
    def to_posts(self) -> list[Reference]:
        """From other tables, and from posts to posts."""
        return [reference for reference in self.references if not reference.is_outgoing]


def structure() -> Structure:
    return Structure(
        indexes=[Index(*row) for row in fetch_all(INDEXES, [TABLE])],
        triggers=[(name, definition) for name, definition in fetch_all(TRIGGERS, [TABLE])],
        references=references(),
        grants=[statement for (statement,) in fetch_all(GRANTS, {"table": TABLE})],
    )


def references() -> list[Reference]:
    return [Reference(*row) for row in fetch_all(REFERENCES, {"table": TABLE})]


def obstacles() -> list[str]:
    return [what for (what,) in fetch_all(OBSTACLES, {"table": TABLE})]


def names_of_indexes(partition: str) -> list[Any]:
    """(name in the partition, name in the table) of each index."""
    return fetch_all(INDEXES_OF_PARTITION, [partition])


def greatest_id() -> Any:
    row = fetch_one(f"SELECT id FROM {TABLE} ORDER BY id DESC LIMIT 1")  # noqa: S608  constant
    return row and row[0]


def server_version() -> int:
    """180000 is PostgreSQL 18."""
    row = fetch_one("SELECT current_setting('server_version_num')::int")
    return int(row[0]) if row else 0


def name_in_first(name: str) -> str:
    return name[: NAME_MAX - len("_first")] + "_first"


def lock(structure: Structure, partitions: Sequence[str] = ()) -> Iterator[str]:
    """All locks at the beginning: a later one could deadlock with writes in progress."""
    referring = sorted({TABLE, *(reference.table for reference in structure.to_posts)})
    targets = sorted({reference.target for reference in structure.outgoing})
    yield f"LOCK TABLE {', '.join([*referring, *partitions])} IN ACCESS EXCLUSIVE MODE"
    if targets:
        yield f"LOCK TABLE {', '.join(targets)} IN SHARE ROW EXCLUSIVE MODE"


def to_partitions(structure: Structure, partitions: Sequence[Partition]) -> Iterator[str]:
    """`partitions` begin with FIRST."""
    yield from _without_what_follows_the_name(structure)
    yield f"ALTER TABLE {TABLE} RENAME TO {FIRST}"
    for index in structure.indexes:
        yield f'ALTER INDEX "{index.name}" RENAME TO "{name_in_first(index.name)}"'
    yield (
        f"CREATE TABLE {TABLE} (LIKE {FIRST} INCLUDING ALL EXCLUDING INDEXES EXCLUDING STATISTICS) "
        "PARTITION BY RANGE (id)"
    )
    yield f"ALTER TABLE {TABLE} DROP CONSTRAINT {BOUND_CHECK}"
    yield from structure.grants
    # The equal ones of FIRST become parts of these, without being built or checked again.
    for index in structure.indexes:
        yield index.statement()
    for reference in structure.outgoing:
        yield reference.add()
    first, *others = partitions
    yield f"ALTER TABLE {TABLE} ATTACH PARTITION {FIRST} FOR VALUES FROM (MINVALUE) TO ('{first_id(first.end)}')"
    yield f"ALTER TABLE {FIRST} DROP CONSTRAINT {BOUND_CHECK}"
    for partition in others:
        yield create(partition)
    yield f"CREATE TABLE {REST} PARTITION OF {TABLE} DEFAULT"
    yield from _what_follows_the_name(structure)


def to_one_table(structure: Structure, names: Sequence[tuple[str, str]]) -> Iterator[str]:
    """All partitions but FIRST must be empty. `names`: of each index, in FIRST and in the table."""
    yield from _without_what_follows_the_name(structure)
    yield f"ALTER TABLE {TABLE} DETACH PARTITION {FIRST}"
    yield f"DROP TABLE {TABLE}"
    yield f"ALTER TABLE {FIRST} RENAME TO {TABLE}"
    for own, name in names:
        yield f'ALTER INDEX "{own}" RENAME TO "{name}"'
    yield from _what_follows_the_name(structure)


def create(partition: Partition) -> str:
    start = "MINVALUE" if partition.start is None else f"'{first_id(partition.start)}'"
    return (
        f"CREATE TABLE {partition.name} PARTITION OF {TABLE} FOR VALUES FROM ({start}) TO ('{first_id(partition.end)}')"
    )


def _without_what_follows_the_name(structure: Structure) -> Iterator[str]:
    for name, _ in structure.triggers:
        yield f'DROP TRIGGER "{name}" ON {TABLE}'
    for reference in structure.to_posts:
        yield reference.drop()


def _what_follows_the_name(structure: Structure) -> Iterator[str]:
    for _, definition in structure.triggers:
        yield definition
    for reference in structure.to_posts:
        yield f"{reference.add()} NOT VALID"


# A partition exists this long before its first post.
AHEAD = timedelta(days=90)
FAR = timedelta(days=3650)
# An unfinished conversion is taken back this long before its bound would refuse posts.
BOUND_MARGIN = timedelta(days=14)
# Autovacuum analyzes partitions, and never the table.
ANALYZE_EVERY = timedelta(days=1)
ANALYZED = "SELECT last_analyze FROM pg_stat_all_tables WHERE relid = to_regclass(%s)"


def make_partitions(*, say: Callable[[str], None]) -> None:
    """Does nothing but take back a late conversion if the table is not partitioned. Safe to run concurrently."""
    now = database_now()
    if not tables.is_partitioned():
        _forget_old_bound(now, say)
        return
    for partition in missing(tables.partitions(), now=now, rest_until=_rest_until(now)):
        change_briefly(lambda made=partition: _make(made), say=say)  # type: ignore[misc]
        say(f"Made {partition.name}, for posts from {partition.start:%Y-%m-%d} to {partition.end:%Y-%m-%d}.")
    row = fetch_one(ANALYZED, [TABLE])
    if row is None or row[0] is None or now - row[0] > ANALYZE_EVERY:
        execute(f"ANALYZE ONLY {TABLE}")


def missing(existing: Sequence[Partition], *, now: datetime, rest_until: datetime | None) -> list[Partition]:
    """As wide as the newest partition, from its end until AHEAD.

    `rest_until`: the time of the greatest id in REST, whose months stay there.
    """
    newest, found = existing[-1], []
    start, months = newest.end, months_between(newest.start, newest.end) if newest.start else 1
    if rest_until is not None and rest_until >= start:
        start = month_after(rest_until, 1)
    while start < now + AHEAD:
        found.append(next_partition(start, months))
        start = found[-1].end
    return found


def next_partition(start: datetime, months: int) -> Partition:
    return Partition(f"{TABLE}_{start:%Y_%m}", start, month_after(start, months))


def _make(partition: Partition) -> None:
    if partition.end not in {existing.end for existing in tables.partitions()}:
        execute(create(partition))


def _rest_until(now: datetime) -> datetime | None:
    """Ids of a far future are those of imported posts from before 1970, and in the way of no partition."""
    row = fetch_one(
        f"SELECT id FROM {REST} WHERE id < %s ORDER BY id DESC LIMIT 1",  # noqa: S608  constant
        [first_id(now + FAR)],
    )
    return time_of(row[0]) if row else None


def _forget_old_bound(now: datetime, say: Callable[[str], None]) -> None:
    check = tables.bound_check()
    if check is not None and check.end - now < BOUND_MARGIN:
        change_briefly(_drop_bound, say=say)
        say("An unfinished conversion was taken back: run partition_messages again.")


def _drop_bound() -> None:
    execute(f"ALTER TABLE {TABLE} DROP CONSTRAINT IF EXISTS {BOUND_CHECK}")
