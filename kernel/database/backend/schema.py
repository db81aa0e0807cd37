"""Indexes of partitioned tables without blocking writes, which PostgreSQL has no one statement for."""

from __future__ import annotations

from typing import Any

from django.db.backends.postgresql import schema

PARTITIONS = """
SELECT child.relname FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
JOIN pg_class parent ON parent.oid = inhparent
WHERE parent.oid = to_regclass(%s) AND parent.relkind = 'p' ORDER BY child.relname
"""
IS_VALID = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"
NAME_MAX = 63
# Creating the index of the table and attaching those of the partitions read no row: a lock that is not granted at once
# fails, and `migrate` tries again. A build on a partition waits for open transactions, and blocks no request.
BRIEFLY, PATIENTLY = "SET lock_timeout = '150ms'", "SET lock_timeout = 0"


class DatabaseSchemaEditor(schema.DatabaseSchemaEditor):
    def add_index(self, model: Any, index: Any, concurrently: bool = False) -> None:
        partitions = self._partitions(model) if concurrently else []
        if not partitions:
            super().add_index(model, index, concurrently=concurrently)
            return
        self.execute(BRIEFLY)
        self._create_index(
            model, index, "CREATE INDEX IF NOT EXISTS", f"ON ONLY {self.quote_name(model._meta.db_table)}"
        )
        for partition in partitions:
            self._add_to(partition, model, index)

    def remove_index(self, model: Any, index: Any, concurrently: bool = False) -> None:
        """Of a partitioned table: no row is read, and the locks are given up if they are not granted at once."""
        if concurrently and self._partitions(model):
            self.execute(BRIEFLY)
            concurrently = False
        super().remove_index(model, index, concurrently=concurrently)

    def _add_to(self, partition: str, model: Any, index: Any) -> None:
        """A build that was interrupted has left an invalid index; a valid one is of an earlier try."""
        name = f"{index.name[: NAME_MAX - len(partition) - 1]}_{partition}"
        quoted = self.quote_name(name)
        if self._is_valid(quoted) is not True:
            self.execute(PATIENTLY)
            self.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {quoted}")
            self._create_index(model, index, "CREATE INDEX CONCURRENTLY", f"ON {self.quote_name(partition)}", name)
        self.execute(BRIEFLY)
        self.execute(f"ALTER INDEX {self.quote_name(index.name)} ATTACH PARTITION {quoted}")

    def _create_index(self, model: Any, index: Any, verb: str, target: str, name: str = "") -> None:
        """Django's statement with another beginning, table and name."""
        table, quoted = self.quote_name(model._meta.db_table), self.quote_name(index.name)
        statement = str(index.create_sql(model, self)).replace(f" ON {table} ", f" {target} ", 1)
        statement = statement.replace("CREATE INDEX", verb, 1)
        self.execute(statement.replace(quoted, self.quote_name(name) if name else quoted, 1), params=None)

    def _partitions(self, model: Any) -> list[str]:
        with self.connection.cursor() as cursor:
            cursor.execute(PARTITIONS, [self.quote_name(model._meta.db_table)])
            return [name for (name,) in cursor.fetchall()]

    def _is_valid(self, name: str) -> bool | None:
        with self.connection.cursor() as cursor:
            cursor.execute(IS_VALID, [name])
            row = cursor.fetchone()
        return row and bool(row[0])
