"""Whether this host should get requests.

Redis fails open, so a host without it is `degraded` and ready: if Redis stops, a balancer must not take out all hosts.
So is a service of which no host runs a worker.
A database that does not answer, or that only reads, is missing; so are migrations of this release that are not applied,
and the stream process of this host.

The mark of a host that is about to stop: a file in the data folder, which every worker sees.

The answers of `/healthz` and `/readyz`, in the workers and in the stream process.
"""

from __future__ import annotations

import http.client
import json
import logging
import threading
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.core.cache import cache as redis
from django.db import Error, connection
from django.db.migrations.loader import MigrationLoader

from config.derived import NO_PAGE_POLICY
from kernel.api.exceptions import MethodNotAllowed
from kernel.cache.rendering import to_json
from kernel.database.bounds import answers_within
from kernel.database.sql import fetch_all

NAME = "draining"


def begin(data: Path) -> None:
    (data / NAME).touch()


def end(data: Path) -> None:
    """Also at a start: a killed process has left the mark."""
    (data / NAME).unlink(missing_ok=True)


def has_drain_mark(data: Path) -> bool:
    return (data / NAME).exists()


# A state is used for so long: anybody may ask, and each check costs a query.
STATE_SECONDS = 1.0
STREAM_SECONDS = 1.0
# A database that is frozen answers nothing. A new connection may take two seconds for each host of DATABASE_URL.
DATABASE_SECONDS = 2.0
# The names of parts.
DATABASE, MIGRATIONS, STREAMS, REDIS, WORKER = "database", "migrations", "streams", "redis", "worker"
# A worker of any host tells every 15 seconds that it lives.
WORKERS = "SELECT count(*) FROM procrastinate_workers WHERE last_heartbeat > now() - interval '1 minute'"
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
    return has_drain_mark(settings.DATA_DIR)


def check() -> State:
    missing = [*_missing_of_database()]
    if settings.STREAMS and not _stream_process_answers():
        missing.append(STREAMS)
    degraded = [] if _redis_answers() else [REDIS]
    if settings.WORKER and not missing and not _worker_lives():
        degraded.append(WORKER)
    return State(tuple(missing), tuple(degraded))


def parts() -> tuple[str, ...]:
    """What this host needs or uses."""
    optional = ((STREAMS, settings.STREAMS), (REDIS, settings.REDIS_URL), (WORKER, settings.WORKER))
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


def _worker_lives() -> bool:
    """Whether any host has a worker. Without one, requests are served, and what is done later waits."""
    try:
        with answers_within(DATABASE_SECONDS):
            ((number,),) = fetch_all(WORKERS)
    except Error:
        connection.close()
        return False
    return bool(number)


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


JSON = "application/json"
READ_METHODS = ("GET", "HEAD")
# Those of every response, which the middlewares of Django add to the others.
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": NO_PAGE_POLICY,
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
ALLOW = ", ".join(READ_METHODS)


class Answer(NamedTuple):
    status: int
    content_type: str
    body: bytes


def healthy() -> Answer:
    """The process answers. A failure means: start it again."""
    return Answer(200, JSON, to_json({"healthy": True}))


def ready() -> Answer:
    """Whether a balancer should send requests to this host."""
    state = readiness().state()
    return _ready(missing=state.missing, degraded=state.degraded)


def stream_process_ready(*, follows_log: bool) -> Answer:
    return _ready(missing=() if follows_log else ("changes",), degraded=())


def method_not_allowed() -> Answer:
    return Answer(405, JSON, to_json(MethodNotAllowed(READ_METHODS).body()))


def _ready(*, missing: tuple[str, ...], degraded: tuple[str, ...]) -> Answer:
    drains = is_draining()
    is_ready = not missing and not drains
    body = {"ready": is_ready, "missing": missing, "degraded": degraded, "draining": drains}
    return Answer(200 if is_ready else 503, JSON, to_json(body))
