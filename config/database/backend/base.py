import select
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from django.db.backends.postgresql import base
from psycopg import Cursor, Error
from psycopg.adapt import Buffer, Loader

# A prepared statement that is of no use any more: a migration changed the type of its result, the server forgot it, or
# its plan names a function that a migration replaced ("cache lookup failed", which lasts as long as the connection).
STALE_STATEMENT_SQLSTATES = frozenset({"0A000", "26000", "XX000"})


class TimeLoader(Loader):
    """Times as PostgreSQL writes them: a twentieth of the work of psycopg's loader in Python, which Django extends."""

    # Django looks here whether times come in the zone it works in.
    timezone = UTC

    def load(self, data: Buffer) -> datetime:
        return datetime.fromisoformat(bytes(data).decode())


class DatabaseWrapper(base.DatabaseWrapper):
    """Connections stay open for good, and every request first makes sure of its own.

    Django's check costs a round trip a request. A server that went away has always said so on the socket (a last
    message, or its end), while the socket of an idle connection in good health is silent: so look there first, and ask
    only on a sound.
    """

    # Django's; its stubs do not know it.
    health_check_done: bool

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        connection = super().get_new_connection(conn_params)
        connection.adapters.register_loader("timestamptz", TimeLoader)
        self.statements = Cursor(connection)
        return connection

    def run(self, statement: str, values: Sequence[Any] | Mapping[str, Any]) -> Any:
        """The cursor of a statement that has run; it holds the rows until the next one runs.

        One cursor for all: it remembers how values are written and read, and prepares what it runs. A cursor of
        Django's, which writes the values into the statement, costs half as much again on a short one and is planned
        for those values; where somebody listens to the queries, they go that way.

        A statement that is outdated has changed nothing: it runs once more on a new connection. Inside a transaction
        it fails, and the whole transaction is to be run again (`config.writes.retries`).
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
