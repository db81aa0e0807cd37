"""What the writers of `make faults` take for a read that shows a post."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, ClassVar

import orjson

from tests.faults.notes import Notes
from tests.faults.reading import LIMIT, Reader, is_listed
from tests.remote import Remote, Reply

POST = {"id": "b", "content": "corrected", "createdAt": "2030-01-01T00:00:01.000000Z"}


def listing(*posts: dict[str, Any]) -> Reply:
    return Reply(200, orjson.dumps({"messages": posts}), {})


def newer(count: int) -> list[dict[str, Any]]:
    return [POST | {"id": f"c{number}"} for number in range(count)]


def test_a_list_shows_a_post_or_as_many_newer_ones_as_fit() -> None:
    for listed, is_right in [
        ([POST], True),
        ([POST | {"content": "as it was"}], False),
        ([], False),
        (newer(LIMIT), True),
        (newer(LIMIT - 1), False),
        ([*newer(LIMIT - 1), POST | {"id": "a"}], False),
    ]:
        assert is_listed(listing(*listed), POST) is is_right, (listed, is_right)


def test_a_refused_read_is_repeated_and_shows_nothing() -> None:
    """Two reads are refused, then one lacks the post; only this one is stale."""
    answers = [(503, {}), (503, {}), (404, {}), (200, POST), (503, {}), (200, {"messages": [POST]})]
    notes = Notes()
    with a_server(answers) as port:
        Reader(notes, port=port, page_id="p").read_back(POST)
    assert not answers
    assert notes.statuses == {503: 3, 404: 1, 200: 2}
    assert notes.stale > 0


def test_an_idle_connection_that_was_closed_is_opened_again() -> None:
    with a_server([(200, {}), (200, {})], closes=True) as port:
        remote = Remote(port)
        for _ in range(2):
            assert remote.call("GET", "/").status == 200
            assert remote._connection
            # Returns at the end of the connection.
            assert remote._connection.sock.recv(1) == b""


@contextmanager
def a_server(answers: list[tuple[int, Any]], *, closes: bool = False) -> Iterator[int]:
    """The port of a server that gives these answers in turn. With `closes` it ends connections unannounced."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version: ClassVar[str] = "HTTP/1.1"

        def do_GET(self) -> None:
            status, body = answers.pop(0)
            text = orjson.dumps(body)
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.send_header("Retry-After", "1")
            self.end_headers()
            self.wfile.write(text)
            self.close_connection = closes

        def log_message(self, *_arguments: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
