"""Sends mutated requests to the service. Its responses are JSON (on pages HTML) and never a 5xx."""

from __future__ import annotations

import random
import re
import socket
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPResponse
from urllib.parse import unquote

import orjson

from tests.fuzz.mutations import mutate
from tests.fuzz.scenario import Scenario
from tests.fuzz.seeds import Input, seeds
from tests.waiting import PATIENCE_SECONDS

# Paths that may return HTML.
HTML_PREFIXES = (
    "/admin/",
    "/account/",
    "/unsubscribe/",
    "/embed/",
    "/demo/",
    "/static/",
    "/api/docs/",
    "/api/redoc/",
    "/api/schema/",
)
LARGE_BODY = 64 * 1024
CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
PATH_END = re.compile(r"[?#]")
# The server refuses these before the application, with an empty body; the proxy returns JSON instead.
MALFORMED = {400, 414, 431}


@dataclass(slots=True)
class Tally:
    """The results of one kind of mutation. `wrong`: forbidden responses, each with its request."""

    inputs: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    slowest: float = 0.0


class Sender:
    """A client that reuses its connection until the server closes it."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._socket: socket.socket | None = None

    def send(self, sent: Input) -> tuple[int, str, bytes]:
        """(status, media type, body). Raises OSError or HTTPException if the response is incomplete."""
        try:
            return self._exchange(sent)
        except (OSError, HTTPException):
            # The server may have closed the reused connection.
            self.close()
            return self._exchange(sent)

    def _exchange(self, sent: Input) -> tuple[int, str, bytes]:
        if self._socket is None:
            self._socket = socket.create_connection(("127.0.0.1", self.port), PATIENCE_SECONDS)
        # The server may respond and close before it has read the whole request.
        with suppress(BrokenPipeError, ConnectionResetError):
            self._socket.sendall(sent.wire())
        answer = HTTPResponse(self._socket, method=sent.method)
        answer.begin()
        body = answer.read()
        if answer.will_close:
            self.close()
        return answer.status, (answer.headers.get("Content-Type") or "").partition(";")[0], body

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def fuzz(scenario: Scenario, *, port: int, count: int, seed: int) -> dict[str, Tally]:
    """Send `count` mutated requests to `port`. Returns {kind of mutation: tally}."""
    rng, valid, sender = random.Random(seed), seeds(scenario), Sender(port)
    tallies: dict[str, Tally] = {}
    for _ in range(count):
        name, sent = mutate(rng.choice(valid), rng)
        _try(sender, sent, tallies.setdefault(name, Tally()))
    sender.close()
    return tallies


def _try(sender: Sender, sent: Input, tally: Tally) -> None:
    tally.inputs += 1
    began = time.monotonic()
    try:
        status, media_type, body = sender.send(sent)
    except (OSError, HTTPException) as failure:
        tally.wrong.append(f"{failure!r} to {sent.wire()[:600]!r}")
        return
    tally.slowest = max(tally.slowest, time.monotonic() - began)
    tally.statuses[status] += 1
    if problem := wrong(sent, status, media_type, body):
        tally.wrong.append(f"{problem}: {status} {media_type} {body[:200]!r} to {sent.wire()[:600]!r}")


def wrong(sent: Input, status: int, media_type: str, body: bytes) -> str | None:
    """The problem of a response, or None."""
    if status == 503 and _is_left_unread(sent):
        return None
    if status >= 500:
        return "5xx"
    if sent.method.upper() == "HEAD" or status in (204, 304) or (not body and status in MALFORMED):
        return None
    # A mutation may add a query or a fragment to the path. Pages accept a missing last slash.
    page = unquote(PATH_END.split(sent.path, maxsplit=1)[0])
    if page == "/" or f"{page}/".startswith(HTML_PREFIXES) or (media_type, status) == ("text/csv", 200):
        return None
    if media_type == "text/html" and status >= 400 and _names_html(sent):
        return None
    return _json_problem(status, media_type, body)


def _is_left_unread(sent: Input) -> bool:
    """Whether the service may close the connection while the proxy sends the body: it cannot read such headers."""
    return len(sent.body or b"") >= LARGE_BODY and any(CONTROLS.search(value) for _name, value in sent.headers)


def _names_html(sent: Input) -> bool:
    """Whether the client may prefer a page to the JSON of a refusal."""
    return any(name.lower() == "accept" and "text/" in value.lower() for name, value in sent.headers)


def _json_problem(status: int, media_type: str, body: bytes) -> str | None:
    if media_type != "application/json":
        return "not JSON"
    try:
        answer = orjson.loads(body)
    except ValueError:
        return "not JSON"
    if status >= 400 and not isinstance(answer.get("error"), str):
        return "no error code"
    return None
