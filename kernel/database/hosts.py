"""Of several hosts, connections try the one first that took the last connection.

Each frozen host costs a new connection `connect_timeout`; only the first connections after a failover should pay it.

Finds the server that takes writes behind several poolers.

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


# By the list of hosts and ports: the index of the preferred one. A race between threads costs an attempt.
_preferred: dict[tuple[str, str], int] = {}


def in_order(parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a connection with the preferred host first."""
    first = _preferred.get(_lists(parameters), 0)
    if not first:
        return parameters
    hosts, ports = (text.split(",") for text in _lists(parameters))
    return parameters | {
        "host": ",".join([*hosts[first:], *hosts[:first]]),
        "port": ",".join([*ports[first:], *ports[:first]]),
    }


def remember(parameters: dict[str, Any], connection: Any) -> None:
    """Prefer the host of a connection that was opened with these parameters, before they were put in order."""
    hosts, ports = (text.split(",") for text in _lists(parameters))
    if len(hosts) > 1:
        pairs = list(zip(hosts, ports, strict=True))
        pair = (connection.info.host, str(connection.info.port))
        if pair in pairs:
            _preferred[_lists(parameters)] = pairs.index(pair)


def _lists(parameters: dict[str, Any]) -> tuple[str, str]:
    return str(parameters.get("host", "")), str(parameters.get("port", ""))
