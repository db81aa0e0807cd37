"""How many files, functions and switches between files one request passes through: `make trace` prints the table.

A reader of the code has to open that many files to follow the request. The limits are those that hold today.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import orjson
import pytest
from django.conf import settings
from django.core.cache import cache
from django.test.client import Client, RequestFactory

from config.wsgi import application
from tests.agents.factories import RequestFactory as AgentRequestFactory
from tests.agents.factories import agent_with_token
from tests.api import Api
from tests.factories import MessageFactory, PageFactory, PersonFactory, SuperAdminFactory
from tests.mcp_server.rpc import message
from tests.service import ROOT

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
# The greatest number of files of each journey.
LIMITS = {
    "POST /api/messages of an agent with a key": 49,
    "its replay": 24,
    "GET /api/messages in no cache": 32,
    "in the cache": 9,
    "refreshed after a post": 23,
    "an approval of an agent request by the API": 41,
    "a form of the account area": 47,
    "MCP write_post": 65,
}


class Trace:
    """The functions of this project that were called, in their order."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []

    @contextmanager
    def recording(self) -> Iterator[None]:
        # The MCP library calls tools in a thread of its own.
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]  # of the stubs

    def _note(self, frame: FrameType, event: str, _argument: Any) -> None:
        path = frame.f_code.co_filename
        if event == "call" and _is_of_project(path):
            self.calls.append((path, frame.f_code.co_qualname))

    @property
    def files(self) -> set[str]:
        return {path for path, _ in self.calls}

    @property
    def row(self) -> tuple[int, int, int]:
        """The numbers of files, of functions, and of calls that are in another file than the one before."""
        switches = sum(one[0] != other[0] for one, other in zip(self.calls, self.calls[1:], strict=False))
        return len(self.files), len(set(self.calls)), switches


def _is_of_project(path: str) -> bool:
    inside = path.startswith(f"{ROOT}{os.sep}") and Path(path).relative_to(ROOT).parts
    return bool(inside) and inside[0] not in {"tests", ".venv"}


def serve(method: str, path: str, headers: dict[str, str], data: bytes = b"", kind: str = "application/json") -> Trace:
    """Serve a request by the whole WSGI application, as a worker does; its status must be a success."""
    environ = RequestFactory().generic(method, path, data, content_type=kind, headers=headers).environ
    trace, statuses = Trace(), []
    with trace.recording():
        answer = b"".join(application(environ, lambda status, _headers, _info=None: statuses.append(status)))
    assert statuses[0][0] in "23", (statuses, answer)
    assert b'"isError":true' not in answer, answer
    return trace


def journeys() -> Iterator[tuple[str, Trace]]:
    """Each journey is made once before it is traced, which fills what a process computes once."""
    agent, page, person = agent_with_token(), PageFactory(), PersonFactory()
    body = orjson.dumps({"pageId": page.pk, "content": "Well said."})

    def post(key: str) -> Trace:
        return serve("POST", "/api/messages", agent.api.credentials | {"Idempotency-Key": key}, body)

    post("one"), post("one")
    yield "POST /api/messages of an agent with a key", post("two")
    yield "its replay", post("two")

    path = f"/api/messages?pageId={page.pk}"
    serve("GET", f"{path}&limit=9", {})
    yield "GET /api/messages in no cache", serve("GET", path, {})
    yield "in the cache", serve("GET", path, {})
    post("three")
    yield "refreshed after a post", serve("GET", path, {})

    approver = Api.as_person(SuperAdminFactory()).credentials
    first, second = (f"/v1/agent-tokens/requests/{AgentRequestFactory().pk}/approve" for _ in range(2))
    serve("POST", first, approver)
    yield "an approval of an agent request by the API", serve("POST", second, approver)

    browser = Client()
    browser.force_login(person)
    browser.get("/account/me/posts/")
    token = "a" * 32
    cookies = f"csrftoken={token}; {settings.SESSION_COOKIE_NAME}={browser.cookies[settings.SESSION_COOKIE_NAME].value}"
    form = {"Cookie": cookies, "X-CSRFToken": token}
    first, second = (f"/account/me/posts/{MessageFactory(author=person, page=page).pk}/delete/" for _ in range(2))
    serve("POST", first, form, b"", "application/x-www-form-urlencoded")
    yield "a form of the account area", serve("POST", second, form, b"", "application/x-www-form-urlencoded")

    def write_post(text: str) -> Trace:
        arguments = {"url": page.normalized_url, "content": text}
        call = message("tools/call", {"name": "write_post", "arguments": arguments})
        headers = agent.api.credentials | {"Accept": "application/json, text/event-stream"}
        return serve("POST", "/mcp", headers, orjson.dumps(call))

    write_post("One")
    yield "MCP write_post", write_post("Two")


def test_a_request_passes_through_no_more_files_than_before() -> None:
    cache.clear()
    rows = {name: trace.row for name, trace in journeys()}
    sys.stdout.write("| request | files | functions | switches between files |\n|---|---|---|---|\n")
    sys.stdout.writelines(f"| {name} | {' | '.join(map(str, row))} |\n" for name, row in rows.items())
    assert rows.keys() == LIMITS.keys()
    too_many = {name: row[0] for name, row in rows.items() if row[0] > LIMITS[name]}
    assert not too_many
