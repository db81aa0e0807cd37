"""ASGI middleware that answers the probes of the stream process, on its own port."""

from __future__ import annotations

from typing import Any, Protocol

from config.probes.answers import Answer, healthy, stream_process_ready


class Application(Protocol):
    """That of the streams (`config.changes.streams.application`)."""

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
            await _send(answer, scope["method"], send)

    def _answer(self, path: str | None) -> Answer | None:
        if path == "/healthz":
            return healthy()
        return stream_process_ready(follows_log=self.application.follows_log) if path == "/readyz" else None


async def _send(answer: Answer, method: str, send: Any) -> None:
    headers = [
        (b"content-type", answer.content_type.encode()),
        (b"content-length", b"%d" % len(answer.body)),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
    ]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if method == "HEAD" else answer.body})
