"""The definitions that belong to the table of posts, as statements that create them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from kernel.database.sql import fetch_all, fetch_one
from messaging.posts.partitioning.tables import TABLE

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
