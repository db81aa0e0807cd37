"""The setting DATABASES: the database, with a pooler also the way around it, and the standbys that serve reads."""

from __future__ import annotations

import os
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from config import env
from kernel.database import addresses, urls

DIRECT = "direct"
STANDBY = "standby_"
# Standbys have less time than a primary: a read that they do not answer is run again there.
STANDBY_TIMEOUT = 2_000
STANDBY_CONNECT_SECONDS = 2
# Tests create no database for these: they are the same one.
SAME_DATABASE = {"TEST": {"MIRROR": "default"}}
Databases = dict[str, dict[str, Any]]


def databases(embedded_url: str, *, statement_timeout: int) -> Databases:
    """DATABASES of the environment. Raises ImproperlyConfigured; no message contains an address."""
    pooler = env.flag("DATABASE_POOLER", default=False)
    prepare = env.flag("DATABASE_PREPARE", default=not pooler)
    _check(pooler=pooler, prepare=prepare)
    writer = addresses.of_the_writer(addresses.read("DATABASE_URL", embedded_url))
    found = {"default": urls.entry(writer, statement_timeout=statement_timeout, pooler=pooler, prepare=prepare)}
    if pooler:
        direct = addresses.of_the_writer(addresses.read("DATABASE_DIRECT_URL"))
        found[DIRECT] = urls.entry(direct, statement_timeout=statement_timeout) | SAME_DATABASE
    return found | _standbys(statement_timeout)


def session_parameters(embedded_url: str) -> dict[str, Any]:
    """Those of a connection whose session is its own: not to a pooler."""
    variable = "DATABASE_DIRECT_URL" if env.text("DATABASE_DIRECT_URL") else "DATABASE_URL"
    return {"connect_timeout": 3, **addresses.of_the_writer(addresses.read(variable, embedded_url))}


def use_direct_connections() -> None:
    """Before the settings are read: this process passes by the pooler.

    Its statements may take any time, and its session may have settings and locks.
    """
    direct = env.text("DATABASE_DIRECT_URL")
    if direct and env.flag("DATABASE_POOLER", default=False):
        os.environ["DATABASE_URL"] = direct
        for name in ("DATABASE_DIRECT_URL", "DATABASE_POOLER", "DATABASE_PREPARE"):
            os.environ.pop(name, None)


def _check(*, pooler: bool, prepare: bool) -> None:
    direct = env.text("DATABASE_DIRECT_URL")
    if direct and not pooler:
        raise ImproperlyConfigured(
            "DATABASE_DIRECT_URL is the way around a pooler: set DATABASE_POOLER=1 as well, or only DATABASE_URL."
        )
    if pooler and not (direct and env.text("DATABASE_URL")):
        raise ImproperlyConfigured(
            "DATABASE_POOLER=1 needs DATABASE_URL, the pooler, and DATABASE_DIRECT_URL, the server behind it: "
            "LISTEN and migrations need a session of their own."
        )
    if prepare and not pooler and env.text("DATABASE_PREPARE"):
        raise ImproperlyConfigured("DATABASE_PREPARE is for DATABASE_POOLER=1: other connections always prepare.")
    if env.text("READ_DATABASE_URL") and not env.text("REDIS_URL"):
        raise ImproperlyConfigured(
            "READ_DATABASE_URL needs REDIS_URL: Redis tells which position of the log a read has to see."
        )


def _standbys(statement_timeout: int) -> Databases:
    """One entry for each host of READ_DATABASE_URL: each has its own position and its own failures."""
    if not env.text("READ_DATABASE_URL"):
        return {}
    timeout = min(statement_timeout or STANDBY_TIMEOUT, STANDBY_TIMEOUT)
    hosts = addresses.each_host(addresses.LIVENESS | addresses.read("READ_DATABASE_URL"))
    entries = [urls.entry(host, statement_timeout=timeout) | SAME_DATABASE for host in hosts]
    for entry in entries:
        entry["OPTIONS"]["connect_timeout"] = STANDBY_CONNECT_SECONDS
    return {f"{STANDBY}{number}": entry for number, entry in enumerate(entries)}
