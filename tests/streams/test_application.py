"""The stream process: requests before the log is read, and a hub that ends."""

from __future__ import annotations

import asyncio
import json
from io import BytesIO
from typing import Any

import pytest
from django.core.handlers.asgi import ASGIRequest

from kernel.api.jwt import issue_user_token
from kernel.changes.streams import application
from kernel.changes.streams.application import StreamApplication
from kernel.changes.streams.hub import Hub
from kernel.changes.streams.opening import StreamResponse
from kernel.probes.asgi import WithProbes
from runtime import streams
from tests.agents.factories import agent_with_token
from tests.factories import PersonFactory

SCOPE = {
    "type": "http",
    "method": "GET",
    "path": "/v1/changes/stream",
    "query_string": b"",
    "headers": [(b"host", b"localhost")],
    "client": ("127.0.0.1", 1),
}


class Lifespan:
    """The server's side of the lifespan protocol."""

    def __init__(self) -> None:
        self.messages: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.sent: list[str] = []

    async def send(self, message: dict[str, Any]) -> None:
        self.sent.append(message["type"])


async def fails(_hub: Hub) -> None:
    raise RuntimeError("a defect")


async def waits(_hub: Hub) -> None:
    await asyncio.Event().wait()


def test_requests_are_refused_until_the_log_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(application, "READY_SECONDS", 0)

    async def scenario() -> list[dict[str, Any]]:
        sent: list[dict[str, Any]] = []

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        await StreamApplication()(SCOPE, asyncio.Event().wait, send)  # type: ignore[arg-type]
        return sent

    start, body = asyncio.run(scenario())
    assert start["status"] == 503
    assert dict(start["headers"])[b"retry-after"] == b"2"
    refusal = json.loads(body["body"])
    assert refusal["error"] == "temporarily_unavailable"
    assert dict(start["headers"])[b"x-request-id"].decode() == refusal["requestId"] != "-"


def test_a_hub_that_ends_is_noticed(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(Hub, "run", fails)

    async def scenario() -> None:
        served, server = StreamApplication(), Lifespan()
        server.messages.put_nowait({"type": "lifespan.startup"})
        running = asyncio.create_task(served({"type": "lifespan"}, server.messages.get, server.send))
        async with asyncio.timeout(60):
            await served.failed.wait()
            server.messages.put_nowait({"type": "lifespan.shutdown"})
            await running
        assert server.sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]

    asyncio.run(scenario())
    assert "RuntimeError: a defect" in caplog.text


def test_a_server_that_stops_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Hub, "run", waits)

    async def scenario() -> bool:
        served, server = StreamApplication(), Lifespan()
        for name in ("startup", "shutdown"):
            server.messages.put_nowait({"type": f"lifespan.{name}"})
        await served({"type": "lifespan"}, server.messages.get, server.send)
        return served.failed.is_set()

    assert asyncio.run(scenario()) is False


class FakeServer:
    """granian's embedded server, without sockets."""

    def __init__(self, served: WithProbes, **_options: Any) -> None:
        self.stopped = asyncio.Event()
        self.served: Any = served.application

    async def serve(self) -> None:
        self.served.failed.set()
        await self.stopped.wait()

    def stop(self) -> None:
        self.stopped.set()


def test_the_process_of_a_hub_that_ends_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("config.asgi.application", StreamApplication())
    monkeypatch.setattr(streams, "Server", FakeServer)

    async def scenario() -> int:
        async with asyncio.timeout(60):
            return await streams.serve(1, connections=1)

    assert asyncio.run(scenario()) == 1


def response_to(served: StreamApplication, number: int, **headers: str) -> Any:
    """Django's response to a request for a stream, of a client with an address of its own."""
    sent = [(name.lower().replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = SCOPE | {"headers": [(b"host", b"localhost"), *sent], "client": (f"203.0.113.{number}", 1)}
    return served._open(ASGIRequest(scope, BytesIO()))


def opened(served: StreamApplication, number: int, **headers: str) -> bool:
    response = response_to(served, number, **headers)
    return isinstance(response, StreamResponse) and response.stream is not None


@pytest.mark.django_db
def test_a_stream_has_the_headers_of_the_middlewares_and_an_id_of_its_own() -> None:
    responses = [response_to(StreamApplication(), 1) for _ in range(2)]
    ids = {dict(application._event_stream_headers(response))[b"x-request-id"] for response in responses}
    assert len(ids) == 2
    assert dict(application._event_stream_headers(responses[0]))[b"link"].endswith(b'rel="api-catalog"')


@pytest.mark.django_db
def test_the_streams_of_an_agents_token_are_counted_however_its_header_is_spelled() -> None:
    served, token = StreamApplication(), agent_with_token().value
    spellings = ["Bearer {}", "bearer {}", "BEARER {}", "Bearer  {}", "Bearer {} ", "bEARER {}", "Bearer {}"]
    counted = [opened(served, number, Authorization=form.format(token)) for number, form in enumerate(spellings)]
    assert counted == [True] * 5 + [False] * 2
    assert opened(served, 10, Authorization=f"Bearer {agent_with_token().value}")


@pytest.mark.django_db
def test_the_streams_of_a_persons_token_are_counted_however_its_signature_is_spelled() -> None:
    served, person = StreamApplication(), PersonFactory()
    token = str(issue_user_token(person))
    # Padding is optional.
    spellings = [token, f"{token}="] * 3
    counted = [
        opened(served, number, Authorization=f"Bearer {spelling}", X_User_Id=str(person.pk))
        for number, spelling in enumerate(spellings)
    ]
    assert counted == [True] * 5 + [False]
