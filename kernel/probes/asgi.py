"""ASGI middleware that answers the probes of the stream process, on its own port."""

from __future__ import annotations

from io import BytesIO
from typing import Any, Protocol

from django.core.handlers.asgi import ASGIRequest

from kernel.probes.readiness import (
    ALLOW,
    HEADERS,
    READ_METHODS,
    Answer,
    healthy,
    method_not_allowed,
    stream_process_ready,
)
from kernel.request_ids import HEADER, serving


class Application(Protocol):
    """That of the streams (`kernel.changes.streams.application`)."""

    @property
    def follows_log(self) -> bool: ...

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None: ...


class WithProbes:
    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        answer = self._answer(scope.get("path")) if scope["type"] == "http" else None
        if answer is None:
            await self.application(scope, receive, send)
        else:
            await _send(answer, scope, send)

    def _answer(self, path: str | None) -> Answer | None:
        if path == "/healthz":
            return healthy()
        return stream_process_ready(follows_log=self.application.follows_log) if path == "/readyz" else None


async def _send(answer: Answer, scope: dict[str, Any], send: Any) -> None:
    method, headers = scope["method"], dict(HEADERS)
    with serving(ASGIRequest(scope, BytesIO()).META) as request_id:
        headers[HEADER] = request_id
        if method not in READ_METHODS:
            answer, headers["Allow"] = method_not_allowed(), ALLOW
    headers |= {"Content-Type": answer.content_type, "Content-Length": str(len(answer.body))}
    encoded = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": answer.status, "headers": encoded})
    await send({"type": "http.response.body", "body": b"" if method == "HEAD" else answer.body})
