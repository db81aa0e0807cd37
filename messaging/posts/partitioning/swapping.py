"""The statements that make the table of posts a partitioned one, and back. No row is read, moved or written.

The names of the table, its indexes, triggers and foreign keys stay, so that neither the service nor a later migration
sees a difference. Foreign keys to posts are created again for the new table, NOT VALID: they check each later write,
and are validated afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from messaging.posts.partitioning.bounds import first_id
from messaging.posts.partitioning.structure import Structure, name_in_first
from messaging.posts.partitioning.tables import BOUND_CHECK, FIRST, REST, TABLE, Partition


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
