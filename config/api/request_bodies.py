"""Every body is taken in, wanted or not.

A refusal may come before anything has read the body. A proxy that is still sending it then takes the answer for a
broken connection, and hands the next client's request to the broken one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

from config.api.strict_json import BODY_MAX

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


def drain_request_body(application: Application) -> Application:
    """The same WSGI application, which reads to the end what was left of a body up to the cap."""

    @wraps(application)
    def reading_on(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        answer = application(environ, start_response)
        length = environ.get("CONTENT_LENGTH") or "0"
        if length.isdecimal() and 0 < int(length) <= BODY_MAX:
            environ["wsgi.input"].read()
        return answer

    return reading_on
