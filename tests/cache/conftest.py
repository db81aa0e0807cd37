from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.db import connection
from django.test.utils import CaptureQueriesContext

from kernel.api.operations import query_names
from kernel.cache.memory import ResponseStore
from kernel.cache.wsgi import ResponseCache

Call = Callable[..., "Sent"]


class Sent:
    """A response as the server receives it, and the number of queries that it took. `headers` are without the id."""

    status: int
    headers: dict[str, str]
    request_id: str
    body: bytes
    queries: int


@pytest.fixture
def store() -> ResponseStore:
    return ResponseStore(bytes_max=1_000_000, seconds=60)


@pytest.fixture
def django_paths() -> list[str]:
    """The paths of the requests that entered Django."""
    return []


@pytest.fixture
def call(store: ResponseStore, django_paths: list[str]) -> Call:
    """Call the WSGI application as a server does."""
    handler = WSGIHandler()

    def django(environ: dict[str, Any], start_response: Any) -> Any:
        django_paths.append(environ["PATH_INFO"])
        return handler(environ, start_response)

    application = ResponseCache(django, store, query_names)

    def send(path: str, query: str = "", method: str = "GET", **headers: str) -> Sent:
        sent = Sent()

        def start_response(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> None:
            sent.status, sent.headers = int(status[:3]), dict(headers)
            assert len(sent.headers) == len(headers), "no header is repeated"
            sent.request_id = sent.headers.pop("X-Request-ID")

        with CaptureQueriesContext(connection) as captured:
            sent.body = b"".join(application(environ_of(path, query, method) | headers, start_response))
        sent.queries = len(captured)
        return sent

    return send


def environ_of(path: str, query: str = "", method: str = "GET") -> dict[str, Any]:
    return {
        "REQUEST_METHOD": method,
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "8000",
        "HTTP_HOST": "127.0.0.1:8000",
        "REMOTE_ADDR": "127.0.0.1",
        "wsgi.input": BytesIO(),
        "wsgi.url_scheme": "http",
    }
