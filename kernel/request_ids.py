"""The id of each request: `X-Request-ID` of its response, `requestId` of a refusal, and a part of its log lines."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from uuid_utils import uuid4

from kernel.proxies import is_trusted

HEADER = "X-Request-ID"
NO_REQUEST = "-"
# Of a WSGI environment, or `request.META`.
KEY = "community_messaging.request_id"
ACCEPTED = re.compile(r"[A-Za-z0-9._-]{1,128}")
_current: ContextVar[str] = ContextVar("request_id", default=NO_REQUEST)


def id_of(environ: MutableMapping[str, Any]) -> str:
    """The id of a request, decided by the first call: the one of a trusted proxy, or a new one."""
    request_id: str | None = environ.get(KEY)
    if request_id is None:
        sent = environ.get("HTTP_X_REQUEST_ID")
        accepted = sent and ACCEPTED.fullmatch(sent) and is_trusted(environ.get("REMOTE_ADDR", ""))
        environ[KEY] = request_id = str(sent if accepted else uuid4())
    return request_id


def current() -> str:
    """The id of the request that this thread or task serves."""
    return _current.get()


@contextmanager
def serving(environ: MutableMapping[str, Any]) -> Iterator[str]:
    """Make the id of a request the current one."""
    token = _current.set(id_of(environ))
    try:
        yield _current.get()
    finally:
        _current.reset(token)


class RequestIdFilter(logging.Filter):
    """Adds `request_id` to log records that have none."""

    def filter(self, record: logging.LogRecord) -> bool:
        if not hasattr(record, "request_id"):
            # Django logs a 5xx after its middlewares, when the request is not the current one any more.
            environ = getattr(getattr(record, "request", None), "META", None)
            record.request_id = current() if environ is None else id_of(environ)
        return True
