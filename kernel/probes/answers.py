"""The answers of `/healthz` and `/readyz`, in the workers and in the stream process."""

from __future__ import annotations

from typing import NamedTuple

from kernel.api.exceptions import MethodNotAllowed
from kernel.cache.rendering import to_json
from kernel.probes.readiness import is_draining, readiness

JSON = "application/json"
READ_METHODS = ("GET", "HEAD")
ALLOW = ", ".join(READ_METHODS)


class Answer(NamedTuple):
    status: int
    content_type: str
    body: bytes


def healthy() -> Answer:
    """The process answers. A failure means: start it again."""
    return Answer(200, JSON, to_json({"healthy": True}))


def ready() -> Answer:
    """Whether a balancer should send requests to this host."""
    state = readiness().state()
    return _ready(missing=state.missing, degraded=state.degraded)


def stream_process_ready(*, follows_log: bool) -> Answer:
    return _ready(missing=() if follows_log else ("changes",), degraded=())


def method_not_allowed() -> Answer:
    return Answer(405, JSON, to_json(MethodNotAllowed(READ_METHODS).body()))


def _ready(*, missing: tuple[str, ...], degraded: tuple[str, ...]) -> Answer:
    drains = is_draining()
    is_ready = not missing and not drains
    body = {"ready": is_ready, "missing": missing, "degraded": degraded, "draining": drains}
    return Answer(200 if is_ready else 503, JSON, to_json(body))
