"""A real HTTP server with prepared responses, for failures that the service does not have on demand."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, slots=True)
class Received:
    method: str
    path: str
    headers: dict[str, str]
    body: Any


@dataclass(frozen=True, slots=True)
class Answer:
    """`body`: JSON, or bytes as they are. `cut`: the connection is closed without a response."""

    status: int = 200
    body: Any = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False


def refusal(status: int, code: str, **headers: str) -> Answer:
    return Answer(status, {"error": code, "message": f"About {code}.", "requestId": "r1"}, headers)


CUT = Answer(cut=True)


class Scripted:
    """Gives the answers in order, the last one again and again."""

    def __init__(self, answers: list[Answer | Callable[[Received], Answer]]) -> None:
        self.received: list[Received] = []
        self._answers = answers
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.base_url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answers(self, *answers: Answer | Callable[[Received], Answer]) -> None:
        """Begin again with these answers."""
        self._answers = list(answers)
        self.received.clear()

    def answer(self, request: Received) -> Answer:
        self.received.append(request)
        prepared = self._answers[min(len(self.received), len(self._answers)) - 1]
        return prepared(request) if callable(prepared) else prepared

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        scripted = self

        class Handler(BaseHTTPRequestHandler):
            def respond(self) -> None:
                sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                body = json.loads(sent) if sent else None
                headers = {name.lower(): value for name, value in self.headers.items()}
                answer = scripted.answer(Received(self.command, self.path, headers, body))
                if answer.cut:
                    self.close_connection = True
                    return
                content = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PUT = do_DELETE = respond

            def log_message(self, *arguments: Any) -> None:
                pass

        return Handler


@contextmanager
def scripted(*answers: Answer | Callable[[Received], Answer]) -> Iterator[Scripted]:
    server = Scripted(list(answers))
    server.start()
    try:
        yield server
    finally:
        server.close()
