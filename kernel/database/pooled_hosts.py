"""Finds the server that takes writes behind several poolers.

A pooler greets a connection with the state that its server had when the pooler first reached it. So libpq's
`target_session_attrs` takes a dead primary for the primary, and a promoted standby for a standby. A query finds out.
"""

from __future__ import annotations

from typing import Any

from psycopg import Error, OperationalError

from kernel.database.addresses import WRITER, each_host, has_several_hosts
from kernel.database.bounds import BoundedConnection


def connect(parameters: dict[str, Any]) -> BoundedConnection:
    """A connection to the first of the hosts whose server takes writes. Each host has `connect_timeout` for its answer.

    Raises OperationalError if there is none.
    """
    if not has_several_hosts(parameters):
        return BoundedConnection.connect(**parameters)
    failure: Error | None = None
    for host in each_host({name: value for name, value in parameters.items() if name not in WRITER}):
        try:
            connection = BoundedConnection.connect(**host)
            if _takes_writes(connection, seconds=float(parameters["connect_timeout"])):
                return connection
            connection.close()
        except Error as error:
            failure = error
    raise OperationalError(f"No server behind the poolers takes writes: {failure or 'all of them only read'}")


def _takes_writes(connection: BoundedConnection, *, seconds: float) -> bool:
    connection.answer_seconds = seconds
    connection.autocommit = True
    try:
        return bool(connection.execute("SHOW transaction_read_only", prepare=False).fetchone() == ("off",))
    except Error:
        connection.close()
        raise
    finally:
        if not connection.closed:
            connection.autocommit = False
