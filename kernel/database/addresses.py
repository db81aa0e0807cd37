"""Reads database addresses, of one host or of several, without ever printing them: they contain a password."""

from __future__ import annotations

import re
from typing import Any

import psycopg
from django.core.exceptions import ImproperlyConfigured
from psycopg.conninfo import conninfo_to_dict

from config import env

PORT, PORT_MAX = "5432", 65_535
# A name, an address, or the folder of a socket.
HOST = re.compile(r"[\w.:%-]+|/[^\s,]*", re.ASCII)
FORM = (
    "postgresql://user:password@host:5432/name, with several hosts postgresql://user:password@host:5432,host2:5432/"
    "name, and special characters of user and password percent-encoded"
)
# A connection to one of several hosts is only used if it takes writes.
WRITER = {"target_session_attrs": "read-write"}
# A host that vanishes is left within seconds, also by a connection that waits or is idle. In seconds; the last one is
# in milliseconds.
LIVENESS = {
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "6000",
}


def read(variable: str, default: str = "") -> dict[str, Any]:
    """The parameters of the address in an environment variable. Raises ImproperlyConfigured with its name."""
    return parse(env.text(variable, default), variable=variable)


def parse(address: str, *, variable: str = "DATABASE_URL") -> dict[str, Any]:
    """The parameters of an address; `host` and `port` may be lists separated by commas, of the same length."""
    try:
        parameters = dict(conninfo_to_dict(address))
    except psycopg.Error:
        # Its text, and the one before it in the chain, may contain the password.
        raise ImproperlyConfigured(f"{variable} cannot be read: write {FORM}.") from None
    hosts = str(parameters.get("host") or "").split(",")
    ports = str(parameters.get("port") or "").split(",")
    if parameters.get("host") and not all(HOST.fullmatch(host) for host in hosts):
        raise ImproperlyConfigured(f"{variable} has an empty host, or one with a character of no host: write {FORM}.")
    if len(ports) not in (1, len(hosts)):
        raise ImproperlyConfigured(f"{variable} has {len(hosts)} hosts and {len(ports)} ports: write {FORM}.")
    if not all(_is_port(port) for port in ports if port):
        raise ImproperlyConfigured(f"{variable} has a port that is no number from 1 to {PORT_MAX}: write {FORM}.")
    if len(hosts) > 1:
        ports = ports if len(ports) == len(hosts) else ports * len(hosts)
        parameters["port"] = ",".join(port or PORT for port in ports)
    return parameters


def has_several_hosts(parameters: dict[str, Any]) -> bool:
    return "," in str(parameters.get("host") or "")


def of_the_writer(parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a connection to the primary."""
    return LIVENESS | (WRITER if has_several_hosts(parameters) else {}) | parameters


def each_host(parameters: dict[str, Any]) -> list[dict[str, Any]]:
    """The parameters of each host on its own."""
    if not has_several_hosts(parameters):
        return [parameters]
    pairs = zip(str(parameters["host"]).split(","), str(parameters["port"]).split(","), strict=True)
    return [parameters | {"host": host, "port": port} for host, port in pairs]


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and 1 <= int(text) <= PORT_MAX
