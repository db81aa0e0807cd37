"""Responses to the scripts of the service's own pages are compressed, others are not."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable
from typing import Any

from kernel.compression import BYTES_MIN, compress_for_own_pages

LONG = b"x" * BYTES_MIN
PANEL = {"HTTP_SEC_FETCH_SITE": "same-origin", "HTTP_ACCEPT_ENCODING": "gzip, br"}
JSON = ("Content-Type", "application/json")


def respond(
    environ: dict[str, Any], body: Iterable[bytes], *headers: tuple[str, str]
) -> tuple[dict[str, str], Iterable[bytes]]:
    """The headers, and what the application returns."""
    sent: dict[str, str] = {}

    def application(_environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        start_response("200 OK", list(headers))
        return body

    def start_response(_status: str, sent_headers: list[tuple[str, str]]) -> None:
        sent.update(sent_headers)

    return sent, compress_for_own_pages(application)(environ, start_response)


def test_long_json_is_compressed_for_a_panel() -> None:
    headers, body = respond(PANEL, [LONG], JSON, ("ETag", '"x"'), ("Vary", "Origin"), ("Content-Length", "1000"))
    (compressed,) = body
    assert gzip.decompress(compressed) == LONG
    assert headers == {
        "Content-Type": "application/json",
        "Content-Encoding": "gzip",
        "Content-Length": str(len(compressed)),
        "ETag": 'W/"x"',
        "Vary": "Origin, Accept-Encoding",
    }


def test_other_responses_are_unchanged() -> None:
    stream = iter([LONG])
    others: list[tuple[dict[str, Any], Iterable[bytes], list[tuple[str, str]]]] = [
        ({**PANEL, "HTTP_SEC_FETCH_SITE": "cross-site"}, [LONG], [JSON]),
        ({"HTTP_ACCEPT_ENCODING": "gzip"}, [LONG], [JSON]),
        ({**PANEL, "HTTP_ACCEPT_ENCODING": "br"}, [LONG], [JSON]),
        (PANEL, [b"short"], [JSON]),
        (PANEL, [], [JSON]),
        (PANEL, [LONG], [("Content-Type", "image/png")]),
        (PANEL, [LONG], [JSON, ("Content-Encoding", "gzip")]),
        (PANEL, [LONG], []),
        (PANEL, stream, [("Content-Type", "text/event-stream")]),
    ]
    for environ, body, headers in others:
        sent, returned = respond(environ, body, *headers)
        assert sent == dict(headers)
        assert returned is body
