"""Reads REDIS_URL: one Redis, or the master that Redis Sentinel names, which changes at a failover."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

SENTINEL_PORT = 26_379
SENTINEL = "sentinel"
NAME = re.compile(r"[\w.-]+", re.ASCII)
FORM = (
    "redis://:password@host:6379/0, unix:///path/redis.sock, or with Redis Sentinel "
    "sentinel://:password@host1:26379,host2:26379,host3:26379/name-of-the-master/0"
)


@dataclass(frozen=True, slots=True)
class Sentinels:
    """An address of the form `sentinel://…`. The credentials are those of Redis."""

    hosts: tuple[tuple[str, int], ...]
    master: str
    db: int
    username: str | None
    password: str | None

    @property
    def credentials(self) -> dict[str, Any]:
        given = {"username": self.username, "password": self.password}
        return {name: value for name, value in given.items() if value}


def sentinels(url: str) -> Sentinels | None:
    """None for another kind of address. Raises ImproperlyConfigured, without the address: it contains a password."""
    if not url.startswith(f"{SENTINEL}://"):
        return None
    try:
        return _parsed(url)
    except ValueError:
        raise ImproperlyConfigured(f"REDIS_URL cannot be read: write {FORM}.") from None


def client(url: str, seconds: float) -> Any:
    """A client that neither waits longer than this nor tries again."""
    # Imported here: without a REDIS_URL no process needs it.
    from redis import Redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry
    from redis.sentinel import Sentinel

    timeouts = {"socket_timeout": seconds, "socket_connect_timeout": seconds, "retry": Retry(NoBackoff(), 0)}
    found = sentinels(url)
    if found is None:
        return Redis.from_url(url, **timeouts)
    asked: Any = Sentinel(found.hosts, sentinel_kwargs=timeouts, **timeouts)  # type: ignore[no-untyped-call]
    return asked.master_for(found.master, db=found.db, **found.credentials)


def _parsed(url: str) -> Sentinels:
    parts = urlsplit(url)
    credentials, _at, hosts = parts.netloc.rpartition("@")
    username, _colon, password = credentials.partition(":")
    master, _slash, db = parts.path.strip("/").partition("/")
    if not NAME.fullmatch(master) or parts.query or parts.fragment:
        raise ValueError("the name of the master")
    return Sentinels(
        tuple(_host(text) for text in hosts.split(",")),
        master,
        int(db or 0),
        unquote(username) or None,
        unquote(password) or None,
    )


def _host(text: str) -> tuple[str, int]:
    host, _colon, port = text.partition(":")
    number = int(port or SENTINEL_PORT)
    if not NAME.fullmatch(host) or not 1 <= number <= 65_535:
        raise ValueError("a host")
    return host, number
