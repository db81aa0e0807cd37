"""Indexes of partitioned tables without blocking writes, which PostgreSQL has no one statement for."""

from __future__ import annotations

import select
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from django.db.backends.postgresql import base, schema
from psycopg import Error, IsolationLevel, OperationalError
from psycopg.adapt import Buffer, Loader

from kernel.database import hosts
from kernel.database.bounds import MARGIN_SECONDS, BoundedConnection, is_hurried
from kernel.database.timing import MeasuredCursor, MeasuredDjangoCursor
from kernel.metrics.definitions import connections_opened
from kernel.metrics.exposition import CONNECTIONS

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


# A prepared statement is stale: a migration changed its result type, the server has dropped it, or its plan contains a
# function that a migration replaced ("cache lookup failed", until the connection closes).
STALE_STATEMENT_SQLSTATES = frozenset({"0A000", "26000", "XX000"})
# The shortest time that libpq waits for a host, in seconds.
CONNECT_SECONDS_MIN = 2
# PostgreSQL's function whose warning says that a commit is on no standby, as it should be.
WAITS_FOR_STANDBY = "SyncRepWaitForLSN"


def _connect(parameters: dict[str, Any]) -> BoundedConnection:
    return BoundedConnection.connect(**parameters)


class TimeLoader(Loader):
    """Parses timestamps at a twentieth of the cost of psycopg's Python loader, which Django extends."""

    # Django compares this with its own time zone.
    timezone = UTC

    def load(self, data: Buffer) -> datetime:
        return datetime.fromisoformat(bytes(data).decode())


class DatabaseWrapper(base.DatabaseWrapper):
    """Connections are persistent, and each request checks the health of its connection.

    Django's check costs a round trip per request. A server that closes a connection sends a last message or an end of
    file, while the socket of a healthy idle connection has no data: so query only if the socket is readable.
    """

    SchemaEditorClass = DatabaseSchemaEditor
    # Declared here because Django's stubs lack it.
    health_check_done: bool

    def get_connection_params(self) -> dict[str, Any]:
        return super().get_connection_params() | {"cursor_factory": MeasuredDjangoCursor}

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """A bounded connection. Django's own method has no way to choose the class."""
        self.isolation_level = IsolationLevel.READ_COMMITTED
        hurried = {"connect_timeout": CONNECT_SECONDS_MIN} if is_hurried() else {}
        connect = hosts.connect if self.settings_dict.get("POOLER") else _connect
        connection = connect(hosts.in_order(conn_params) | hurried)
        hosts.remember(conn_params, connection)
        connection.answer_seconds = self.settings_dict.get("ANSWER_SECONDS")
        connection.add_notice_handler(self._notice)
        self._is_unreplicated = False
        connection.adapters.register_loader("timestamptz", TimeLoader)
        CONNECTIONS.add(connection)
        connections_opened.inc()
        return connection

    def init_connection_state(self) -> None:
        super().init_connection_state()
        self.statements = MeasuredCursor(self.connection)

    def run(self, statement: str, values: Sequence[Any] | Mapping[str, Any]) -> Any:
        """Run a statement and return the cursor, whose rows are valid until the next statement.

        The connection has one psycopg cursor for all statements: it caches the adapters of values and prepares
        statements. Django's cursor, which interpolates the values, takes half as much time again for a short statement;
        it is used only while queries are logged or wrapped.

        A stale statement has changed nothing and runs once more on a new connection. Inside a transaction it raises,
        and the whole transaction must be run again (`kernel.writes.transaction`).
        """
        if self.queries_logged or self.execute_wrappers:
            cursor = self.cursor()
            cursor.execute(statement, values)
            return cursor
        if not self.health_check_done:
            self.close_if_health_check_failed()
        if self.connection is None:
            self.ensure_connection()
        self.validate_no_broken_transaction()
        with self.wrap_database_errors:
            try:
                return self.statements.execute(statement, values)
            except Error as failure:
                if failure.sqlstate not in STALE_STATEMENT_SQLSTATES or self.in_atomic_block:
                    raise
        self.close()
        self.ensure_connection()
        with self.wrap_database_errors:
            return self.statements.execute(statement, values)

    def is_usable(self) -> bool:
        """After an error, a connection to a server that only reads is replaced: another one may be the primary."""
        return (not self.errors_occurred and self._is_silent()) or (super().is_usable() and not self._only_reads())

    def _only_reads(self) -> bool:
        try:
            with self.connection.cursor() as cursor:
                return bool(cursor.execute("SHOW transaction_read_only").fetchone() == ("on",))
        except Error:
            return True

    def _commit(self) -> None:
        super()._commit()  # type: ignore[misc]  # Django's stubs lack it, and the next one
        if self._is_unreplicated:
            self._is_unreplicated = False
            with self.wrap_database_errors:
                raise OperationalError("The commit is on no standby: its wait was cancelled")

    def _notice(self, notice: Any) -> None:
        if notice.source_function == WAITS_FOR_STANDBY:
            self._is_unreplicated = True

    def allow_long_statements(self, seconds: float) -> None:
        """Until the end of the transaction. `seconds` is the timeout of its statements."""
        if self.connection.answer_seconds is not None:
            self.connection.answer_seconds = seconds + MARGIN_SECONDS

    def _set_autocommit(self, autocommit: bool) -> None:
        super()._set_autocommit(autocommit)  # type: ignore[misc]
        if autocommit:
            self.connection.answer_seconds = self.settings_dict.get("ANSWER_SECONDS")

    def _is_silent(self) -> bool:
        pgconn = self.connection.pgconn
        if pgconn.status != 0:
            return False
        poll = select.poll()
        poll.register(pgconn.socket, select.POLLIN | select.POLLHUP | select.POLLERR)
        return not poll.poll(0)
