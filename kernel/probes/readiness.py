"""Whether this host should get requests.

Redis fails open, so a host without it is `degraded` and ready: if Redis stops, a balancer must not take out all hosts.
A database that does not answer, or that only reads, is missing; so are migrations of this release that are not applied,
and the stream process of this host.
"""

from __future__ import annotations

import http.client
import json
import logging
import threading
import time
from dataclasses import dataclass
from functools import cache

from django.conf import settings
from django.core.cache import cache as redis
from django.db import Error, connection
from django.db.migrations.loader import MigrationLoader

from kernel.database.bounds import answers_within
from kernel.database.sql import fetch_all
from kernel.probes import draining

# A state is used for so long: anybody may ask, and each check costs a query.
STATE_SECONDS = 1.0
STREAM_SECONDS = 1.0
# A database that is frozen answers nothing. A new connection may take two seconds for each host of DATABASE_URL.
DATABASE_SECONDS = 2.0
# The names of parts.
DATABASE, MIGRATIONS, STREAMS, REDIS = "database", "migrations", "streams", "redis"
APPLIED = "SELECT app, name, pg_is_in_recovery() FROM django_migrations"
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class State:
    missing: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()


class Readiness:
    """The state of this host. One thread of a process checks it at a time, and at most once a second."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state: State | None = None
        self._until = 0.0

    def state(self) -> State:
        known = self._state
        if known is not None and time.monotonic() < self._until:
            return known
        # While one thread checks, which may take seconds, the others use what is known.
        if not self._lock.acquire(blocking=known is None):
            return known or State()
        try:
            self._state = check()
            self._until = time.monotonic() + STATE_SECONDS
            return self._state
        finally:
            self._lock.release()


@cache
def readiness() -> Readiness:
    """The one of this process."""
    return Readiness()


def is_draining() -> bool:
    return draining.is_draining(settings.DATA_DIR)


def check() -> State:
    missing = [*_missing_of_database()]
    if settings.STREAMS and not _stream_process_answers():
        missing.append(STREAMS)
    return State(tuple(missing), () if _redis_answers() else (REDIS,))


def parts() -> tuple[str, ...]:
    """What this host needs or uses."""
    optional = ((STREAMS, settings.STREAMS), (REDIS, settings.REDIS_URL))
    return (DATABASE, MIGRATIONS, *(part for part, is_used in optional if is_used))


def _missing_of_database() -> tuple[str, ...]:
    try:
        with answers_within(DATABASE_SECONDS):
            rows = fetch_all(APPLIED)
    except Error as error:
        logger.warning("Not ready, PostgreSQL does not serve: %s", str(error).strip()[:300])
        # The next check begins with a new connection.
        connection.close()
        return (DATABASE,)
    if any(is_standby for _app, _name, is_standby in rows):
        return (DATABASE,)
    return () if migrations() <= {(app, name) for app, name, _is_standby in rows} else (MIGRATIONS,)


@cache
def migrations() -> frozenset[tuple[str, str]]:
    """The last migration of each app of this release."""
    return frozenset(MigrationLoader(None).graph.leaf_nodes())


def _redis_answers() -> bool:
    """True without a Redis."""
    if not settings.REDIS_URL:
        return True
    try:
        redis.get("probe")
    except Exception as error:  # noqa: BLE001  the cache backends share no error class
        logger.warning("Redis does not answer: %s", type(error).__name__)
        return False
    return True


def _stream_process_answers() -> bool:
    """Whether it is ready, or would be if this host did not drain."""
    client = http.client.HTTPConnection(settings.LOCAL_HOST, settings.STREAM_PORT, timeout=STREAM_SECONDS)
    try:
        client.request("GET", "/readyz")
        return bool(json.loads(client.getresponse().read())["missing"] == [])
    except (OSError, http.client.HTTPException, ValueError, TypeError, KeyError):
        return False
    finally:
        client.close()
