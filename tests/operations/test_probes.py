"""`/healthz`, `/readyz` and `/metrics` of a worker."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import pytest
from django.db import Error
from django.test import RequestFactory

from kernel.changes.streams.application import StreamApplication
from kernel.metrics import definitions
from kernel.metrics.exposition import REGISTRY
from kernel.probes import asgi, readiness, wsgi
from kernel.probes import readiness as draining
from kernel.probes import wsgi as watching
from kernel.probes.readiness import Readiness


class Reply(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)


def application(_environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    start_response("404 Not Found", [])
    return [b"application"]


def call(path: str, method: str = "GET", **environ: str) -> Reply:
    started: list[Any] = []
    request = RequestFactory().generic(method, path, **environ)  # type: ignore[arg-type]
    answering = wsgi.answer_probes(application)
    body = b"".join(answering(request.environ, lambda *arguments: started.append(arguments)))
    status, headers = started[0]
    return Reply(int(status[:3]), dict(headers), body)


@pytest.fixture(autouse=True)
def _own_state(settings: Any, tmp_path: Path) -> Iterator[None]:
    settings.DATA_DIR, settings.STREAMS, settings.REDIS_URL = tmp_path, False, ""
    readiness.readiness.cache_clear()
    yield
    readiness.readiness.cache_clear()


def test_healthz_needs_no_database_and_no_known_host() -> None:
    # pytest-django refuses every query of a test without the mark `django_db`.
    reply = call("/healthz", HTTP_HOST="10.0.0.7:8000")
    assert (reply.status, reply.json) == (200, {"healthy": True})


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_a_probe_is_not_stored_sets_no_cookie_and_has_an_id(path: str, settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT = True
    reply = call(path, HTTP_HOST="10.0.0.7")
    assert reply.status == 200
    assert reply.headers["Cache-Control"] == "no-store"
    assert reply.headers["X-Request-ID"]
    assert reply.headers["Referrer-Policy"] == "same-origin"
    assert reply.headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert reply.headers["X-Content-Type-Options"] == "nosniff"
    assert not {"Set-Cookie", "Location"} & set(reply.headers)
    assert int(reply.headers["Content-Length"]) == len(reply.body)


def test_a_probe_has_no_body_for_head_and_refuses_other_methods() -> None:
    head, post = call("/healthz", "HEAD"), call("/healthz", "POST")
    assert (head.status, head.body) == (200, b"")
    for other in ("/healthz/", "/health", "/readyz/x", "/metrics", "/"):
        assert call(other).body == b"application"
    assert (post.status, post.headers["Allow"]) == (405, "GET, HEAD")
    assert (post.json["error"], post.json["allowed"]) == ("method_not_allowed", ["GET", "HEAD"])
    assert post.json["requestId"] == post.headers["X-Request-ID"]


@pytest.mark.django_db
def test_a_host_without_the_migrations_of_its_release_is_not_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "migrations", lambda: frozenset({("messaging", "9999_not_applied")}))
    reply = call("/readyz")
    assert (reply.status, reply.json["missing"]) == (503, ["migrations"])


def test_a_host_without_its_database_is_not_ready_and_tells_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is one whose database is a standby."""

    def fail(_statement: str) -> None:
        raise Error("away: secret.example")

    monkeypatch.setattr(readiness.connection, "close", lambda: None)
    for fetch_all in (fail, lambda _statement: [("messaging", "0001_initial", True)]):
        monkeypatch.setattr(readiness, "fetch_all", fetch_all)
        readiness.readiness.cache_clear()
        reply = call("/readyz")
        assert reply.status == 503
        assert reply.json == {"ready": False, "missing": ["database"], "degraded": [], "draining": False}


@pytest.mark.django_db
def test_a_host_without_redis_is_degraded_and_ready(settings: Any, tmp_path: Path) -> None:
    settings.REDIS_URL = f"unix://{tmp_path}/nothing-here.sock"
    settings.CACHES = {
        "default": {"BACKEND": "django_redis.cache.RedisCache", "LOCATION": settings.REDIS_URL},
    }
    reply = call("/readyz")
    assert (reply.status, reply.json["ready"], reply.json["degraded"]) == (200, True, ["redis"])


@pytest.mark.django_db
def test_a_host_without_its_stream_process_is_not_ready(settings: Any, free_port: int) -> None:
    settings.STREAMS, settings.STREAM_PORT = True, free_port
    assert call("/readyz").json["missing"] == ["streams"]


@pytest.mark.django_db
def test_a_draining_host_is_not_ready_at_once() -> None:
    from django.conf import settings

    assert call("/readyz").json == {"ready": True, "missing": [], "degraded": [], "draining": False}
    draining.begin(settings.DATA_DIR)
    reply = call("/readyz")
    assert (reply.status, reply.json["draining"], reply.json["missing"]) == (503, True, [])
    draining.end(settings.DATA_DIR)
    assert call("/readyz").status == 200


def test_the_state_is_checked_at_most_once_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    checks: list[int] = []
    monkeypatch.setattr(readiness, "check", lambda: checks.append(1) or readiness.State())
    now = [100.0]
    monkeypatch.setattr(readiness.time, "monotonic", lambda: now[0])
    own = Readiness()
    for _ in range(5):
        own.state()
    assert len(checks) == 1
    now[0] += readiness.STATE_SECONDS
    own.state()
    assert len(checks) == 2


def test_while_one_thread_checks_the_others_use_the_known_state(monkeypatch: pytest.MonkeyPatch) -> None:
    own = Readiness()
    monkeypatch.setattr(readiness, "check", lambda: readiness.State(missing=("streams",)))
    known = own.state()
    own._until = 0.0
    with own._lock:
        assert own.state() is known


class TestReadyGauge:
    def published(self) -> dict[str, float]:
        definitions.ready.clear()
        readiness.readiness.cache_clear()
        watching.publish()
        (metric,) = (found for found in REGISTRY.collect() if found.name == f"{definitions.NAMESPACE}_ready")
        return {sample.labels["part"]: sample.value for sample in metric.samples}

    @pytest.mark.django_db
    def test_it_has_the_parts_that_the_host_uses(self, settings: Any, tmp_path: Path, free_port: int) -> None:
        assert self.published() == {"database": 1, "migrations": 1}
        settings.STREAMS, settings.STREAM_PORT = True, free_port
        settings.REDIS_URL = f"unix://{tmp_path}/nothing-here.sock"
        settings.CACHES = {"default": {"BACKEND": "django_redis.cache.RedisCache", "LOCATION": settings.REDIS_URL}}
        assert self.published() == {"database": 1, "migrations": 1, "streams": 0, "redis": 0}

    def test_what_is_missing_is_0_and_only_that(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for part in ("database", "migrations"):
            monkeypatch.setattr(readiness, "check", lambda part=part: readiness.State(missing=(part,)))
            assert self.published() == {"database": 1, "migrations": 1} | {part: 0}


def test_only_an_allowed_address_gets_the_metrics(settings: Any) -> None:
    settings.METRICS_ALLOWED = ["127.0.0.1", "10.0.0.0/8"]
    for address in ("127.0.0.1", "10.1.2.3", "::ffff:10.1.2.3"):
        reply = call("/metrics", REMOTE_ADDR=address)
        assert reply.status == 200
        assert reply.headers["Content-Type"].startswith("text/plain; version=")
        assert b"community_messaging_build_info" in reply.body
    # Others get what an unknown path gets.
    for address in ("192.0.2.1", "", "nonsense"):
        assert call("/metrics", REMOTE_ADDR=address).body == b"application"
    # An unknown proxy has an allowed address, as every host has.
    for header in ("HTTP_X_FORWARDED_FOR", "HTTP_FORWARDED", "HTTP_X_REAL_IP"):
        assert call("/metrics", **{header: "127.0.0.1"}).body == b"application"
    settings.METRICS_ALLOWED, settings.TRUSTED_PROXIES = ["127.0.0.1", "10.0.0.1"], ["127.0.0.1"]
    assert call("/metrics", HTTP_X_FORWARDED_FOR="192.0.2.1").body == b"application"
    assert call("/metrics", HTTP_X_FORWARDED_FOR="10.0.0.1").status == 200


@pytest.fixture
def free_port() -> int:
    from tests.service import free_port

    return free_port()


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_the_stream_process_answers_as_the_workers_do(method: str) -> None:
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {"type": "http", "method": method, "path": "/healthz", "query_string": b"", "headers": []}
    asyncio.run(asgi.WithProbes(StreamApplication())(scope, None, send))
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    worker = call("/healthz", method)
    assert sent[0]["status"] == worker.status
    assert set(headers) == {name.lower() for name in worker.headers}
    assert int(headers["content-length"]) == int(worker.headers["Content-Length"])
    ids = dict.fromkeys((headers["x-request-id"], worker.headers["X-Request-ID"]), "id")
    bodies = {re.sub("|".join(ids), "id", body.decode()) for body in (sent[1]["body"], worker.body)}
    assert len(ids) == 2
    assert len(bodies) == 1
