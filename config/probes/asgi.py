"""ASGI middleware that answers the probes of the stream process, on its own port."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from config.probes.answers import Answer, healthy, stream_process_ready

Application = Callable[[dict[str, Any], Any, Any], Awaitable[None]]


def answer_probes(application: Application, follows_log: Callable[[], bool]) -> Application:
    async def answering(scope: dict[str, Any], receive: Any, send: Any) -> None:
        answer = _answer(scope.get("path"), follows_log) if scope["type"] == "http" else None
        if answer is None:
            await application(scope, receive, send)
        else:
            await _send(answer, scope["method"], send)

    return answering


def _answer(path: str | None, follows_log: Callable[[], bool]) -> Answer | None:
    if path == "/healthz":
        return healthy()
    return stream_process_ready(follows_log=follows_log()) if path == "/readyz" else None


async def _send(answer: Answer, method: str, send: Any) -> None:
    headers = [
        (b"content-type", answer.content_type.encode()),
        (b"content-length", b"%d" % len(answer.body)),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
    ]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if method == "HEAD" else answer.body})
