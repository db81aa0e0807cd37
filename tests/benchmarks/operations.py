"""Measures the operations of one release in one process, without a server: see tests/benchmarks/releases.py.

The working folder is a checkout of the release, of which this file may be older or newer: so it uses little of it.
Prints a line of JSON: for each operation the processor time of this process and of PostgreSQL, in microseconds a call.
"""

from __future__ import annotations

import io
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import psutil

# First, because it loads the settings and the apps.
from config.wsgi import application
from tests.benchmarks import data, load
from tests.benchmarks.servers import processor_seconds

WARM_CALLS = 200
TEXT = "A new post, number {}, about as long as what people write below an article when they have a moment to spare."
JSON = {"CONTENT_TYPE": "application/json"}
Operation = Callable[[int], tuple[str, str, dict[str, str], Any]]


def operations(pages: list[str], posts: list[str], agents: int) -> dict[str, Operation]:
    """What a call with this number sends: method, path, headers, body. Each number is another agent."""

    def credential(agent: int) -> dict[str, str]:
        return JSON | {"HTTP_AUTHORIZATION": f"Bearer {data.token(1 + agent % agents)}"}

    def create(number: int) -> tuple[str, str, dict[str, str], Any]:
        body = {"pageId": pages[number % len(pages)], "content": TEXT.format(number)}
        return "POST", "/api/messages", credential(number) | {"HTTP_IDEMPOTENCY_KEY": f"key {number}"}, body

    def react(number: int) -> tuple[str, str, dict[str, str], Any]:
        return "POST", "/v1/reactions", credential(number), {"messageId": posts[number % len(posts)], "emoji": "👍"}

    return {
        "list": lambda number: ("GET", f"/api/messages?pageId={pages[number % len(pages)]}", {}, None),
        "one message": lambda number: ("GET", f"/api/messages/{posts[number % len(posts)]}", {}, None),
        "embed config": lambda _: ("GET", f"/api/embeds/config/{data.EMBED_ID}", {}, None),
        "createMessage": create,
        # After createMessage, with its keys.
        "replay": create,
        "addReaction": react,
    }


def main(count: int, posts: int) -> None:
    with data.connect(os.environ["DATABASE_URL"]) as connection:
        load.load(connection, posts)
        data.forget_writes(connection)
        connection.execute("TRUNCATE reactions_reaction")
        pages = [data.page_id(page) for page in range(posts // data.POSTS_A_PAGE)]
        some = [str(post) for post in data.some_posts(connection, count)]
    measured = {}
    for name, operation in operations(pages, some, data.AGENTS).items():
        # Replays are of the measured calls, which are the last ones.
        for number in range(WARM_CALLS):
            call(*operation(count + number))
        measured[name] = measure(operation, count)
    sys.stdout.write(json.dumps(measured) + "\n")


def measure(operation: Operation, count: int) -> tuple[float, float]:
    postgres = psutil.Process(int(os.environ["POSTMASTER_PID"]))
    own, others = time.process_time(), processor_seconds(postgres)
    for number in range(count):
        call(*operation(number))
    used = time.process_time() - own, processor_seconds(postgres) - others
    return used[0] / count * 1e6, used[1] / count * 1e6


def call(method: str, path: str, headers: dict[str, str], body: Any) -> None:
    sent = b"" if body is None else json.dumps(body).encode()
    path, _, query = path.partition("?")
    environ = {
        "REQUEST_METHOD": method,
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "CONTENT_LENGTH": str(len(sent)),
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "HTTP_HOST": "127.0.0.1",
        "REMOTE_ADDR": "127.0.0.1",
        "wsgi.input": io.BytesIO(sent),
        "wsgi.errors": sys.stderr,
        "wsgi.url_scheme": "http",
        **headers,
    }
    statuses: list[str] = []
    response = application(environ, lambda status, *_: statuses.append(status))
    text = b"".join(response)
    if hasattr(response, "close"):
        response.close()
    assert statuses[0].startswith("2"), text


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
