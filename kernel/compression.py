"""WSGI middleware that compresses responses to the scripts of the service's own pages, such as the panel.

Without it, a list of posts is most of what a first opening of the panel transfers where no proxy compresses. Other
clients get plain responses: compressing a list takes longer than serving it from memory.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable
from typing import Any

Headers = list[tuple[str, str]]
Environ = dict[str, Any]
Application = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]

BYTES_MIN = 1000
LEVEL = 5
TYPES = ("application/json", "text/")


def compress_for_own_pages(application: Application) -> Application:
    def respond(environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        if not accepts(environ):
            return application(environ, start_response)
        started: list[Any] = []
        body = application(environ, lambda *arguments: started.append(arguments))
        status, headers, *rest = started[0]
        if not (isinstance(body, list) and len(body) == 1 and is_compressible(headers, body[0])):
            start_response(status, headers, *rest)
            return body
        compressed = gzip.compress(body[0], LEVEL, mtime=0)
        start_response(status, compressed_headers(headers, len(compressed)), *rest)
        return [compressed]

    return respond


def accepts(environ: Environ) -> bool:
    """Whether a script of a page of the same origin sends the request, and its browser accepts gzip."""
    return environ.get("HTTP_SEC_FETCH_SITE") == "same-origin" and "gzip" in environ.get("HTTP_ACCEPT_ENCODING", "")


def is_compressible(headers: Headers, body: bytes) -> bool:
    fields = {name.lower(): value for name, value in headers}
    is_text = fields.get("content-type", "").startswith(TYPES)
    return len(body) >= BYTES_MIN and is_text and "content-encoding" not in fields


def compressed_headers(headers: Headers, length: int) -> Headers:
    """The ETag becomes a weak one, since the bytes differ."""
    fields = {name.lower(): (name, value) for name, value in headers}
    fields["content-encoding"] = ("Content-Encoding", "gzip")
    fields["vary"] = ("Vary", ", ".join(filter(None, [fields.get("vary", ("", ""))[1], "Accept-Encoding"])))
    if "content-length" in fields:
        fields["content-length"] = ("Content-Length", str(length))
    if "etag" in fields and not fields["etag"][1].startswith("W/"):
        fields["etag"] = ("ETag", f"W/{fields['etag'][1]}")
    return list(fields.values())
