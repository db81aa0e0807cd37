"""WSGI middleware that counts every response, and writes the access log where ACCESS_LOG is 1."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Any

from django.conf import settings

from kernel.metrics import publishing
from kernel.metrics.exposition import CACHE, OPERATION, OUTCOME, REQUESTS, STATUS, Outcome
from kernel.request_ids import id_of

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Application = Callable[[Environ, StartResponse], Iterable[bytes]]
# Of responses that no view returns.
STATIC, OTHER = "static", "other"
logger = logging.getLogger(__name__)


def observe_requests(application: Application) -> Application:
    """Return the application itself if neither metrics nor the access log are configured."""
    if settings.METRICS:
        publishing.start()
        application = count_requests(application)
    return log_requests(application) if settings.ACCESS_LOG else application


def count_requests(application: Application) -> Application:
    count = REQUESTS.add

    def counting(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        started = perf_counter()
        try:
            return application(environ, start_response)
        finally:
            count(environ.get(OUTCOME) or outcome_of(environ), perf_counter() - started)

    return counting


def log_requests(application: Application) -> Application:
    def logging_requests(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        started = perf_counter()
        try:
            return application(environ, start_response)
        finally:
            log(environ, perf_counter() - started)

    return logging_requests


def log(environ: Environ, seconds: float) -> None:
    """One line: no query string and no address, which may be personal data."""
    operation, status, result = environ.get(OUTCOME) or outcome_of(environ)
    fields = {
        "method": environ["REQUEST_METHOD"],
        "path": environ["PATH_INFO"],
        "status": int(status),
        "milliseconds": round(seconds * 1000, 2),
        "operation": operation,
        "cache": result,
    }
    text = "%(method)s %(path)r %(status)d %(milliseconds).2f ms %(operation)s"
    logger.info(text, fields, extra={"request_id": id_of(environ), "fields": fields})


def outcome_of(environ: Environ) -> Outcome:
    """Of a response that did not come from the response cache; without a status, of an exception."""
    return (environ.get(OPERATION) or _without_view(environ), environ.get(STATUS, "500"), environ.get(CACHE))


def _without_view(environ: Environ) -> str:
    return STATIC if environ["PATH_INFO"].startswith(settings.STATIC_URL) else OTHER
