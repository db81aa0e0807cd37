"""The database of Django's settings: cursors that measure their statements, and indexes without blocking writes.

The time of each statement is counted for metrics, and a slow one gets a log line. PostgreSQL has no one statement that
makes an index of a partitioned table without blocking writes.
"""

from __future__ import annotations

import logging
import select
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.db.backends.postgresql import base, schema
from django.db.backends.postgresql.base import Cursor as DjangoCursor
from psycopg import Cursor, Error, IsolationLevel, OperationalError
from psycopg.adapt import Buffer, Loader

from kernel.database import hosts
from kernel.database.bounds import MARGIN_SECONDS, BoundedConnection, is_hurried
from kernel.metrics.definitions import connections_opened, slow_statements
from kernel.metrics.exposition import CONNECTIONS, STATEMENTS

TEXT_MAX = 2_000
# Log lines of slow statements a second: where everything is slow, they must not fill the disk.
LINES_A_SECOND = 5
logger = logging.getLogger(__name__)


class Measured:
    """A mixin of psycopg's cursors."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
        started = time.perf_counter()
        try:
            return super().execute(query, params, **options)  # type: ignore[misc]
        finally:
            observe(query, time.perf_counter() - started)

    def executemany(self, query: Any, params_seq: Any, **options: Any) -> None:
        started = time.perf_counter()
        try:
            super().executemany(query, params_seq, **options)  # type: ignore[misc]
        finally:
            observe(query, time.perf_counter() - started)


class MeasuredCursor(Measured, Cursor):
    """The cursor of `DatabaseWrapper.run`."""


class MeasuredDjangoCursor(Measured, DjangoCursor):
    """The cursor of Django's ORM."""


class _Lines:
    """Counts the lines of the current second. Threads may log a line more."""

    def __init__(self) -> None:
        self._second, self._count = 0, 0

    def may_log(self) -> bool:
        second = int(time.monotonic())
        if second != self._second:
            self._second, self._count = second, 0
        self._count += 1
        return self._count <= LINES_A_SECOND


_lines = _Lines()


def observe(query: Any, seconds: float) -> None:
    if settings.METRICS:
        STATEMENTS.add(None, seconds)
    limit = settings.SLOW_STATEMENT_MS
    if limit and seconds * 1000 >= limit:
        slow_statements.inc()
        if _lines.may_log():
            _log(query, seconds)


def _log(query: Any, seconds: float) -> None:
    """The text has placeholders instead of values, which may be personal data."""
    text = " ".join(_text_of(query).split())[:TEXT_MAX]
    fields = {"milliseconds": round(seconds * 1000), "statement": text}
    logger.warning("A statement took %(milliseconds)d ms: %(statement)s", fields, extra={"fields": fields})


def _text_of(query: Any) -> str:
    """Composed statements may contain values."""
    if isinstance(query, bytes):
        return query.decode(errors="replace")
    return query if isinstance(query, str) else type(query).__name__


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
