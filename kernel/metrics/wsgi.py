"""WSGI middleware that counts every response, and writes the access log where ACCESS_LOG is 1."""

from __future__ import annotations

import itertools
import logging
import re
from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Any

from django.conf import settings

from kernel.metrics import publishing
from kernel.metrics.exposition import CACHE, ERROR, OPERATION, OUTCOME, REQUESTS, STATUS, Outcome
from kernel.request_ids import id_of

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Application = Callable[[Environ, StartResponse], Iterable[bytes]]
# Of responses that no view returns.
STATIC, OTHER = "static", "other"
# What `log` writes as text, for programs that read it.
ACCESS_LINE = re.compile(
    r"(?P<method>\S+) ['\"](?P<path>.*)['\"] (?P<status>\d{3}) (?P<milliseconds>[\d.]+) ms "
    r"(?P<operation>\S+)(?: (?P<error>\S+))?"
)
READS = ("GET", "HEAD", "OPTIONS")
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
    """All writes and refusals are logged, and each ACCESS_LOG_READS-th of the other reads."""
    reads, every = itertools.count(), settings.ACCESS_LOG_READS

    def logging_requests(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        started = perf_counter()
        try:
            return application(environ, start_response)
        finally:
            is_read = environ["REQUEST_METHOD"] in READS and outcome(environ)[1] < "400"
            if not is_read or next(reads) % every == 0:
                log(environ, perf_counter() - started)

    return logging_requests


def log(environ: Environ, seconds: float) -> None:
    """One line: no query string and no address, which may be personal data."""
    operation, status, result = outcome(environ)
    fields = {
        "method": environ["REQUEST_METHOD"],
        "path": environ["PATH_INFO"],
        "status": int(status),
        "milliseconds": round(seconds * 1000, 2),
        "operation": operation,
        "cache": result,
        "error": environ.get(ERROR),
    }
    text = "%(method)s %(path)r %(status)d %(milliseconds).2f ms %(operation)s"
    if fields["error"]:
        text += " %(error)s"
    logger.info(text, fields, extra={"request_id": id_of(environ), "fields": fields})


def outcome(environ: Environ) -> Outcome:
    found: Outcome | None = environ.get(OUTCOME)
    return found or outcome_of(environ)


def outcome_of(environ: Environ) -> Outcome:
    """Of a response that did not come from the response cache; without a status, of an exception."""
    return (environ.get(OPERATION) or _without_view(environ), environ.get(STATUS, "500"), environ.get(CACHE))


def _without_view(environ: Environ) -> str:
    return STATIC if environ["PATH_INFO"].startswith(settings.STATIC_URL) else OTHER
