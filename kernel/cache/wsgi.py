"""WSGI middleware that serves cached public GETs without entering Django.

A response is cached if it declares its cache tags (`response.cache_snapshot`) and the request has no credential. A hit
compares versions. On a miss one thread of a worker fills the key, by the loader of the invalid response or through
Django, and the other threads wait for it. HEAD is served like GET, without the body. Parameters that an operation does
not read are no part of the key: else each new one would make the same response again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote_plus

from django.conf import settings
from django.http import HttpResponse

from kernel.cache import versions
from kernel.cache.loaders import refresh
from kernel.cache.memory import CachedResponse, Headers, Key, ResponseStore
from kernel.cache.rendering import matches_etag
from kernel.metrics.exposition import (
    BYPASSED,
    CACHE,
    ERROR,
    FILLED,
    HIT,
    NOT_STORED,
    OPERATION,
    OUTCOME,
    REFRESHED,
    STATUS,
)
from kernel.request_ids import HEADER, id_of, serving

PREFIXES = ("/api/", "/v1/", "/feeds/")
READING = ("GET", "HEAD")
REFUSED = int(HTTPStatus.BAD_REQUEST)
# Embeds answer by the origin of a page; other reads tell APP_URL alone from other origins, as CORS does.
BY_ORIGIN = "/api/embeds/"
Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Application = Callable[[Environ, StartResponse], Any]
# The names of the query parameters that the read at a path knows; None: any may matter.
QueryNames = Callable[[str], Set[str] | None]


class CapturedStart:
    """A `start_response` that stores its arguments."""

    status: str
    headers: Headers

    def __call__(self, status: str, headers: Headers, exc_info: Any = None) -> None:
        self.status, self.headers = status, headers


class ResponseCache:
    """Wraps a WSGI application that returns Django's response object."""

    def __init__(self, application: Application, store: ResponseStore, query_names: QueryNames) -> None:
        self._application, self._store, self._query_names = application, store, query_names

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        key = cache_key(environ, self._query_names)
        if key is None:
            return _finish(self._application(environ, start_response), environ)
        cached = self._store.get(key)
        if cached is not None:
            return _send(cached, environ, start_response, HIT)
        if not versions.store().is_available():
            environ[CACHE] = BYPASSED
            return _finish(self._application(environ, start_response), environ)
        return self._miss(key, environ, start_response)

    def _miss(self, key: Key, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        with serving(environ):
            return self._respond(key, environ, start_response)

    def _respond(self, key: Key, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        lock = self._store.acquire_fill_lock(key)
        try:
            # Another thread may have filled the key while this one waited.
            cached, result = self._store.get(key), HIT
            if cached is None:
                cached, result = self._refresh(key), REFRESHED
            if cached is None:
                return self._fill(key, environ, start_response)
        finally:
            self._store.release_fill_lock(key, lock)
        return _send(cached, environ, start_response, result)

    def _refresh(self, key: Key) -> CachedResponse | None:
        """Refresh without a Django request; on error return None, to fall back to Django."""
        stale, expires_at = self._store.pop(key), self._store.next_expiry()
        if stale is None or stale.loader is None:
            return None
        loaded = refresh(stale.loader)
        if loaded is None:
            return None
        cached = stale.refreshed(loaded, expires_at=expires_at)
        self._store.set(key, cached)
        return cached

    def _fill(self, key: Key, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Enter Django, without `If-None-Match`: the next client may not have this ETag, and a 304 has no body."""
        expires_at, start = self._store.next_expiry(), CapturedStart()
        unconditional = {name: value for name, value in environ.items() if name != "HTTP_IF_NONE_MATCH"}
        unconditional["REQUEST_METHOD"] = "GET"
        response = self._application(unconditional, start)
        environ[OPERATION] = operation = unconditional.get(OPERATION)
        snapshot = getattr(response, "cache_snapshot", None)
        if snapshot is None or response.status_code != HTTPStatus.OK:
            environ[CACHE] = NOT_STORED
            start_response(start.status, start.headers)
            return _finish(response, environ)
        (body,) = finish(response)
        etag, loader = response.headers["ETag"], getattr(response, "loader", None)
        # Each response has an id of its own.
        headers = [header for header in start.headers if header[0] != HEADER]
        cached = CachedResponse(snapshot, expires_at, start.status, headers, body, etag, loader, operation)
        self._store.set(key, cached)
        return _send(cached, environ, start_response, FILLED)


def cache_responses(application: Application, query_names: QueryNames) -> Application:
    """Return the application behind a response cache, or without one if RESPONSE_CACHE_BYTES is 0."""
    # Create the store here, in one thread: two threads that import the Redis client at once fail.
    versions.store()
    bytes_max, seconds = settings.RESPONSE_CACHE_BYTES, settings.RESPONSE_CACHE_SECONDS
    if not bytes_max:
        return lambda environ, start_response: _finish(application(environ, start_response), environ)
    return ResponseCache(application, ResponseStore(bytes_max=bytes_max, seconds=seconds), query_names)


def cache_key(environ: Environ, query_names: QueryNames) -> Key | None:
    """Return the key of a public GET or HEAD: path, known parameters and the headers that responses vary by.

    None for any other request, and for one with a credential, which has to be checked.
    """
    path = environ["PATH_INFO"]
    if environ["REQUEST_METHOD"] not in READING or not path.startswith(PREFIXES) or "HTTP_AUTHORIZATION" in environ:
        return None
    return path, _known_query(environ.get("QUERY_STRING", ""), path, query_names), *variant_of(environ)


def variant_of(environ: Environ) -> tuple[str, ...]:
    """What the headers of a public read depend on."""
    get = environ.get
    origin = get("HTTP_ORIGIN", "")
    return (
        origin if origin == settings.APP_URL or environ["PATH_INFO"].startswith(BY_ORIGIN) else "",
        get("HTTP_HOST", ""),
        "https" if get("HTTP_X_FORWARDED_PROTO", "").partition(",")[0].strip() == "https" else "",
    )


def _known_query(query: str, path: str, query_names: QueryNames) -> str:
    names = query_names(path) if query else None
    if names is None:
        return query
    return "&".join(part for part in query.split("&") if unquote_plus(part.partition("=")[0]) in names)


def finish(response: Any) -> Iterable[bytes]:
    """Return a complete body as a list, which granian sends in one piece with its length; pass a stream through."""
    if not isinstance(response, HttpResponse):
        return response  # type: ignore[no-any-return]
    body = [response.content]
    # Granian closes iterables only; this ends the request for Django.
    response.close()
    return body


def _finish(response: Any, environ: Environ) -> Iterable[bytes]:
    status = response.status_code
    environ[STATUS] = str(status)
    if status >= REFUSED and (error := getattr(response, "error", None)) is not None:
        environ[ERROR] = error.code
    return finish(response)


def _send(cached: CachedResponse, environ: Environ, start_response: StartResponse, result: str) -> list[bytes]:
    headers = [*cached.headers, (HEADER, id_of(environ))]
    if_none_match = environ.get("HTTP_IF_NONE_MATCH")
    if if_none_match and matches_etag(if_none_match, cached.etag):
        environ[OUTCOME] = (cached.operation, "304", result)
        start_response("304 Not Modified", [header for header in headers if header[0] != "Content-Type"])
        return [b""]
    environ[OUTCOME] = (cached.operation, "200", result)
    if environ["REQUEST_METHOD"] == "HEAD":
        start_response(cached.status, [*headers, ("Content-Length", str(len(cached.body)))])
        return [b""]
    start_response(cached.status, headers)
    return [cached.body]
