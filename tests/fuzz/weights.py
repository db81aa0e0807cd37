"""Inputs that cost more than their size: numbers, bodies that are slow to parse, large uploads."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPResponse
from random import Random
from typing import Any

from tests.fuzz.scenario import Scenario
from tests.fuzz.seeds import PAGES

LENGTH_MAX = 24
BODY_BYTES = 1_048_576
# Average processor time; wall time depends on the load of the machine.
SECONDS_MAX = 0.25
SPOOLED_MAX = 1_000_000
# Without both, the body of a form is not read.
COOKIES = f"sessionid=x; csrftoken={'a' * 32}"
IMPORTS = ("/account/communities/x/moderation/imports/", "/account/sign-in/")
PIECES = (
    b"[",
    b"]",
    b"{",
    b"}",
    b"[]",
    b"{}",
    b"1",
    b"1.5",
    b"1e-7",
    b",",
    b":",
    b'"',
    b'"a"',
    b'"a":1',
    b"\\",
    b"\\u0000",
)
TARGETS = ("/api/auth/refresh", "/api/auth/logout", "/api/auth/login", "/v1/presence/normalize-url")


def numbers(scenario: Scenario, rng: Random) -> str | None:
    """A number in a payload or a context anchor is returned equal, of the same type and short, or is refused."""
    text = rng.choice([_digits, _exponent, _float])(rng)
    page = scenario.ids["pageId"][0]
    name = rng.choice(["payload", "contextAnchor"])
    body = f'{{"pageId": "{page}", "tagType": "note", "{name}": {{"n": [{text}]}}}}'
    remote, headers = scenario.remote, scenario.callers["person"] | {"Content-Type": "application/json"}
    created = _sent(scenario, "/api/messages", body.encode(), headers)
    if created[0] != 201:
        return None if created[0] == 400 else f"{created[0]} to {text}"
    record = remote.call("GET", f"/api/messages/{created[1]['id']}").body
    floats: list[str] = []

    def noted(digits: str) -> float:
        floats.append(digits)
        return float(digits)

    value = json.loads(record, parse_float=noted)[name]["n"][0]
    is_equal = (type(value), value) == (type(json.loads(text)), json.loads(text))
    short = all(len(digits) <= LENGTH_MAX for digits in [*floats, str(value)])
    return None if is_equal and short else f"{text} is returned as {value!r}"


def bodies(scenario: Scenario, rng: Random) -> str | None:
    """A body of a megabyte is refused. `fuzz` checks the average cost."""
    unit = b"".join(rng.choices(PIECES, k=rng.randint(1, 5))) + rng.choice([b"", b","])
    start, end = rng.choice([(b"", b""), (b"[", b"1]"), (b'{"a":[', b"1]}"), (b'["', b'"]')])
    body = start + unit * ((BODY_BYTES - len(start) - len(end)) // len(unit)) + end
    status, _answer = _sent(scenario, rng.choice(TARGETS), body, {"Content-Type": "application/json"})
    return None if 400 <= status < 500 else f"{status} to {body[:40]!r}…"


def uploads(scenario: Scenario, rng: Random) -> str | None:
    """A body over the maximum is refused on every path, and not spooled."""
    path = rng.choice([*PAGES, "/api/messages", "/admin/messaging/message/", "/admin/logout/", *IMPORTS])
    chunked, pieces = rng.random() < 0.5, rng.randint(0, 20)
    length = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {rng.randint(BODY_BYTES + 1, 10**9)}"
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nCookie: {COOKIES}\r\n"
        f"Content-Type: multipart/form-data; boundary=x\r\n{length}\r\n\r\n"
    )
    part = b'--x\r\nContent-Disposition: form-data; name="a"; filename="a"\r\n\r\n' + b"x" * 1_000_000
    with socket.create_connection(("127.0.0.1", scenario.service.port), 20) as connection:
        connection.sendall(head.encode())
        answer = HTTPResponse(connection)
        answer.begin()
        with suppress(OSError):
            for _ in range(pieces):
                connection.sendall(b"%x\r\n%b\r\n" % (len(part), part) if chunked else part)
        spooled = sum(file.stat().st_size for file in scenario.spooled.rglob("*") if file.is_file())
    good = answer.status in ((411,) if chunked else (413,)) and spooled < SPOOLED_MAX
    return None if good else f"{answer.status} to {length} at {path}, {spooled} bytes in temporary files"


SORTS: tuple[Callable[[Scenario, Random], str | None], ...] = (numbers, bodies, uploads)


def fuzz(scenario: Scenario, *, count: int, seed: int) -> dict[str, list[str]]:
    """Send `count` inputs of each kind. Returns {kind: problems}."""
    rng, problems = Random(seed), dict[str, list[str]]()
    for sort in SORTS:
        before = _processor_seconds(scenario)
        problems[sort.__name__] = [wrong for _ in range(count) if (wrong := sort(scenario, rng)) is not None]
        each = (_processor_seconds(scenario) - before) / count
        if each > SECONDS_MAX:
            problems[sort.__name__].append(f"{each:.3f} s of processor time each")
    return problems


def _processor_seconds(scenario: Scenario) -> float:
    return sum(sum(worker.cpu_times()[:2]) for worker in scenario.service.workers())


def _sent(scenario: Scenario, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", scenario.service.port, timeout=20)
    connection.request("POST", path, body, headers)
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


def _digits(rng: Random) -> str:
    whole = str(rng.randrange(10 ** rng.randint(1, 22)))
    places = rng.randint(0, 25)
    return rng.choice(["", "-"]) + whole + (f".{rng.randrange(10**places):0{places}}" if places else "")


def _exponent(rng: Random) -> str:
    return f"{_digits(rng)}{rng.choice('eE')}{rng.choice(['', '+', '-'])}{rng.randrange(10 ** rng.randint(1, 3))}"


def _float(rng: Random) -> str:
    return repr(rng.choice([-1, 1]) * rng.random() * 10.0 ** rng.randint(-320, 307))
