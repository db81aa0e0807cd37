import select
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from django.db.backends.postgresql import base
from psycopg import Error
from psycopg.adapt import Buffer, Loader

from config.database.timing import MeasuredCursor, MeasuredDjangoCursor
from config.metrics.collecting import CONNECTIONS
from config.metrics.definitions import connections_opened

# A prepared statement is stale: a migration changed its result type, the server has dropped it, or its plan contains a
# function that a migration replaced ("cache lookup failed", until the connection closes).
STALE_STATEMENT_SQLSTATES = frozenset({"0A000", "26000", "XX000"})


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

    # Declared here because Django's stubs lack it.
    health_check_done: bool

    def get_connection_params(self) -> dict[str, Any]:
        return super().get_connection_params() | {"cursor_factory": MeasuredDjangoCursor}

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        connection = super().get_new_connection(conn_params)
        connection.adapters.register_loader("timestamptz", TimeLoader)
        self.statements = MeasuredCursor(connection)
        CONNECTIONS.add(connection)
        connections_opened.inc()
        return connection

    def run(self, statement: str, values: Sequence[Any] | Mapping[str, Any]) -> Any:
        """Run a statement and return the cursor, whose rows are valid until the next statement.

        The connection has one psycopg cursor for all statements: it caches the adapters of values and prepares
        statements. Django's cursor, which interpolates the values, takes half as much time again for a short statement;
        it is used only while queries are logged or wrapped.

        A stale statement has changed nothing and runs once more on a new connection. Inside a transaction it raises,
        and the whole transaction must be run again (`config.writes.retries`).
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
        return (not self.errors_occurred and self._is_silent()) or super().is_usable()

    def _is_silent(self) -> bool:
        pgconn = self.connection.pgconn
        if pgconn.status != 0:
            return False
        poll = select.poll()
        poll.register(pgconn.socket, select.POLLIN | select.POLLHUP | select.POLLERR)
        return not poll.poll(0)
