"""Hot public reads from the process's own memory, before Django wakes.

Kept are answers that say what they depend on (`config.api.freshness`): public reads, without a credential. A hit
compares versions; a miss lets one thread ask the database while the others wait for its answer. Hosts, origins and
query strings are part of the key, so whatever varies by them stays apart.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from http import HTTPStatus
from threading import Lock
from typing import Any

from django.conf import settings
from django.http import HttpResponse

from config.api.freshness import Watched, home

PREFIXES = ("/api/", "/v1/")
# What an entry costs beside its body, about.
ENTRY_BYTES = 2_000
WAIT_SECONDS = 2.0
Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Headers = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Kept:
    """One answer, ready to be sent."""

    watched: Watched
    until: float
    status: str
    headers: Headers
    body: bytes
    etag: str

    def holds(self) -> bool:
        return time.monotonic() < self.until and self.watched.still_holds()

    @property
    def size(self) -> int:
        return len(self.body) + ENTRY_BYTES


class EntryCache:
    """Bounded in bytes. The oldest entries go first: near enough to the least used, where all are short-lived."""

    def __init__(self, *, bytes_max: int, seconds: float) -> None:
        self._kept: dict[tuple[str, ...], Kept] = {}
        self._flights: dict[tuple[str, ...], Lock] = {}
        self._lock = Lock()
        self._bytes_max, self._seconds = bytes_max, seconds
        self.bytes = 0

    def find(self, key: tuple[str, ...]) -> Kept | None:
        kept = self._kept.get(key)
        return kept if kept is not None and kept.holds() else None

    def lasting(self) -> float:
        """Until when an answer begun now may be served, on the monotonic clock."""
        return time.monotonic() + self._seconds

    def keep(self, key: tuple[str, ...], kept: Kept) -> None:
        if kept.size > self._bytes_max // 4:
            return
        with self._lock:
            self._drop(key)
            self._kept[key] = kept
            self.bytes += kept.size
            while self.bytes > self._bytes_max:
                self._drop(next(iter(self._kept)))

    def _drop(self, key: tuple[str, ...]) -> None:
        gone = self._kept.pop(key, None)
        self.bytes -= gone.size if gone is not None else 0

    def take_off(self, key: tuple[str, ...]) -> Lock | None:
        """One thread at a time fills a key. Nobody waits long: a stuck fill must not hold up the other threads."""
        with self._lock:
            lock = self._flights.setdefault(key, Lock())
        return lock if lock.acquire(timeout=WAIT_SECONDS) else None

    def land(self, key: tuple[str, ...], flight: Lock | None) -> None:
        if flight is not None:
            flight.release()
            with self._lock:
                self._flights.pop(key, None)


class Started:
    """A `start_response` that remembers."""

    status: str
    headers: Headers

    def __call__(self, status: str, headers: Headers, exc_info: Any = None) -> None:
        self.status, self.headers = status, headers


class EntryCached:
    """A WSGI application over Django's, which answers what it keeps by itself.

    `application(environ, start_response)` must return Django's response object.
    """

    def __init__(self, application: Callable[[Environ, StartResponse], Any], cache: EntryCache) -> None:
        self._application, self._cache = application, cache

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        key = key_of(environ)
        if key is None:
            return finished(self._application(environ, start_response))
        kept = self._cache.find(key)
        if kept is None:
            flight = self._cache.take_off(key)
            try:
                kept = self._cache.find(key)
                if kept is None:
                    return self._fill(key, environ, start_response)
            finally:
                self._cache.land(key, flight)
        return _send(kept, environ, start_response)

    def _fill(self, key: tuple[str, ...], environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Ask Django. An answer to keep is asked for whole, since the next reader may not have what this one has."""
        until, started = self._cache.lasting(), Started()
        whole = {name: value for name, value in environ.items() if name != "HTTP_IF_NONE_MATCH"}
        response = self._application(whole, started)
        watched = getattr(response, "watched", None)
        if watched is None or response.status_code != HTTPStatus.OK:
            start_response(started.status, started.headers)
            return finished(response)
        (body,) = finished(response)
        kept = Kept(watched, until, started.status, started.headers, body, response.headers["ETag"])
        self._cache.keep(key, kept)
        return _send(kept, environ, start_response)


def entry_cached(application: Callable[[Environ, StartResponse], Any]) -> EntryCached:
    # Now, while there is one thread: two that import the Redis client at once trip over each other.
    home()
    return EntryCached(
        application, EntryCache(bytes_max=settings.KEPT_ANSWER_BYTES, seconds=settings.KEPT_ANSWER_SECONDS)
    )


def key_of(environ: Environ) -> tuple[str, ...] | None:
    """What tells one public read from another; None for what is none, or comes with a credential to be checked."""
    path = environ["PATH_INFO"]
    if environ["REQUEST_METHOD"] != "GET" or not path.startswith(PREFIXES) or "HTTP_AUTHORIZATION" in environ:
        return None
    get = environ.get
    return (
        path,
        get("QUERY_STRING", ""),
        get("HTTP_ORIGIN", ""),
        get("HTTP_HOST", ""),
        get("HTTP_X_FORWARDED_PROTO", ""),
    )


def finished(response: Any) -> Iterable[bytes]:
    """A finished body goes out as a list: granian sends that in one piece and with its length."""
    if not isinstance(response, HttpResponse):
        return response  # type: ignore[no-any-return]
    body = [response.content]
    # Granian closes iterables only; this ends the request for Django.
    response.close()
    return body


def _send(kept: Kept, environ: Environ, start_response: StartResponse) -> list[bytes]:
    if _names(environ.get("HTTP_IF_NONE_MATCH", ""), kept.etag):
        start_response("304 Not Modified", [header for header in kept.headers if header[0] != "Content-Type"])
        return [b""]
    start_response(kept.status, kept.headers)
    return [kept.body]


def _names(if_none_match: str, etag: str) -> bool:
    """Whether a request's If-None-Match names this ETag (RFC 9110, weak comparison)."""
    if not if_none_match:
        return False
    return if_none_match.strip() == "*" or etag in [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
