"""WSGI middleware that reads every request body to its end.

A request may be refused before its body is read. A proxy that is still sending the body then treats the connection as
broken, and may send the request of the next client on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any

from kernel.api.strict_json import BODY_MAX

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


def drain_request_body(application: Application) -> Application:
    """Return the WSGI application; it reads the rest of a body of up to BODY_MAX bytes after each request."""

    @wraps(application)
    def draining(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        response = application(environ, start_response)
        if 0 < content_length(environ) <= BODY_MAX:
            environ["wsgi.input"].read()
        return response

    return draining


def content_length(environ: Mapping[str, Any]) -> int:
    """The Content-Length of a WSGI environment in bytes, 0 without a valid one."""
    length = environ.get("CONTENT_LENGTH") or ""
    return int(length) if length.isdecimal() else 0
