"""Of several hosts, connections try the one first that took the last connection.

Each frozen host costs a new connection `connect_timeout`; only the first connections after a failover should pay it.
"""

from __future__ import annotations

from typing import Any

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
