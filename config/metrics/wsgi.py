"""WSGI middleware that counts every response, and writes the access log where ACCESS_LOG is 1."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Any

from django.conf import settings

from config.metrics import publishing
from config.metrics.collecting import CACHE, OPERATION, REQUESTS
from config.request_ids import id_of

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Application = Callable[[Environ, StartResponse], Iterable[bytes]]
Record = Callable[[Environ, str, float], None]
# Of responses that no view returns.
STATIC, OTHER = "static", "other"
logger = logging.getLogger(__name__)


def observe_requests(application: Application) -> Application:
    """Return the application itself if neither metrics nor the access log are configured."""
    if settings.METRICS:
        publishing.start()
        application = observed(application, count)
    return observed(application, log) if settings.ACCESS_LOG else application


def observed(application: Application, record: Record) -> Application:
    """`record` gets the environment of each request, its status, and the seconds until the response."""

    def observing(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        started, status = perf_counter(), "500"

        def start(line: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            nonlocal status
            status = line[:3]
            return start_response(line, headers, *rest)

        try:
            return application(environ, start)
        finally:
            record(environ, status, perf_counter() - started)

    return observing


def count(environ: Environ, status: str, seconds: float) -> None:
    REQUESTS.add((environ.get(OPERATION) or _without_view(environ), status, environ.get(CACHE)), seconds)


def log(environ: Environ, status: str, seconds: float) -> None:
    """One line: no query string and no address, which may be personal data."""
    fields = {
        "method": environ["REQUEST_METHOD"],
        "path": environ["PATH_INFO"],
        "status": int(status),
        "milliseconds": round(seconds * 1000, 2),
        "operation": environ.get(OPERATION) or _without_view(environ),
        "cache": environ.get(CACHE),
    }
    text = "%(method)s %(path)r %(status)d %(milliseconds).2f ms %(operation)s"
    logger.info(text, fields, extra={"request_id": id_of(environ), "fields": fields})


def _without_view(environ: Environ) -> str:
    return STATIC if environ["PATH_INFO"].startswith(settings.STATIC_URL) else OTHER
