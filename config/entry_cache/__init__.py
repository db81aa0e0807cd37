"""Hot public reads from memory, before Django wakes.

Kept are answers that say what they depend on (`config.api.freshness`): public reads, without a credential. A hit
compares versions; on a miss one thread of a worker asks the database, while its others wait for the answer. Hosts,
origins and query strings are part of the key, so whatever varies by them stays apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.db import close_old_connections
from django.http import HttpResponse

from config.api.freshness import home
from config.entry_cache.memory import EntryCache, Headers, Kept, Key

PREFIXES = ("/api/", "/v1/")
Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Application = Callable[[Environ, StartResponse], Any]


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

    def __init__(self, application: Application, cache: EntryCache) -> None:
        self._application, self._cache = application, cache

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        key = key_of(environ)
        if key is None:
            return finished(self._application(environ, start_response))
        kept = self._cache.find(key)
        if kept is None and home().is_away():
            return finished(self._application(environ, start_response))
        if kept is None:
            flight = self._cache.take_off(key)
            try:
                kept = self._cache.find(key) or self._made_again(key)
                if kept is None:
                    return self._fill(key, environ, start_response)
            finally:
                self._cache.land(key, flight)
        return _send(kept, environ, start_response)

    def _made_again(self, key: Key) -> Kept | None:
        """From the recipe of what was kept, at half the price. Whatever stands in its way is Django's to tell."""
        old, until = self._cache.find_old(key), self._cache.lasting()
        if old is None or old.recipe is None:
            return None
        # As Django begins a request.
        close_old_connections()
        try:
            kept = old.made_again(old.recipe, until=until)
        except Exception:  # noqa: BLE001  it happens again where it is answered
            self._cache.forget(key)
            return None
        if kept is not None:
            self._cache.keep(key, kept)
        return kept

    def _fill(self, key: Key, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Ask Django. An answer to keep is asked for whole, since the next reader may not have what this one has."""
        until, started = self._cache.lasting(), Started()
        whole = {name: value for name, value in environ.items() if name != "HTTP_IF_NONE_MATCH"}
        response = self._application(whole, started)
        watched = getattr(response, "watched", None)
        if watched is None or response.status_code != HTTPStatus.OK:
            start_response(started.status, started.headers)
            return finished(response)
        (body,) = finished(response)
        etag, recipe = response.headers["ETag"], getattr(response, "recipe", None)
        kept = Kept(watched, until, started.status, started.headers, body, etag, recipe)
        self._cache.keep(key, kept)
        return _send(kept, environ, start_response)


def entry_cached(application: Application) -> Application:
    # Now, while there is one thread: two that import the Redis client at once trip over each other.
    home()
    bytes_max, seconds = settings.KEPT_ANSWER_BYTES, settings.KEPT_ANSWER_SECONDS
    if not bytes_max:
        return lambda environ, start_response: finished(application(environ, start_response))
    return EntryCached(application, EntryCache(bytes_max=bytes_max, seconds=seconds))


def key_of(environ: Environ) -> Key | None:
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
