import select
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from django.db.backends.postgresql import base
from psycopg import Error, IsolationLevel, OperationalError
from psycopg.adapt import Buffer, Loader

from kernel.database import pooled_hosts, preferred_hosts
from kernel.database.backend.schema import DatabaseSchemaEditor
from kernel.database.bounds import MARGIN_SECONDS, BoundedConnection, is_hurried
from kernel.database.timing import MeasuredCursor, MeasuredDjangoCursor
from kernel.metrics.collecting import CONNECTIONS
from kernel.metrics.definitions import connections_opened

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
        connect = pooled_hosts.connect if self.settings_dict.get("POOLER") else _connect
        connection = connect(preferred_hosts.in_order(conn_params) | hurried)
        preferred_hosts.remember(conn_params, connection)
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
        and the whole transaction must be run again (`kernel.writes.retries`).
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
