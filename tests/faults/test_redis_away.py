"""With Redis frozen, killed or flushed, calls are slower for a moment; nothing else changes."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest
from django.core.cache import cache
from django.test import override_settings

from kernel.api import throttling
from kernel.cache import versions
from kernel.cache.circuit_breaker import CircuitBreaker
from tests.agents.factories import TokenHolder, agent_with_token
from tests.api import Api
from tests.factories import PageFactory, PersonFactory
from tests.fresh_settings import fresh_settings
from tests.redis_server import start_redis
from tests.waiting import ATTEMPTS

pytestmark = [pytest.mark.processes, pytest.mark.django_db]
# The longest permitted call while Redis does not respond.
WORST_SECONDS = 0.3
CALLS = 10


@pytest.fixture
def redis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Popen[bytes]]:
    """A Redis that the settings of the service use."""
    server = start_redis(tmp_path)
    monkeypatch.setattr(throttling, "_breaker", CircuitBreaker(5.0, effect=""))
    try:
        # The version store of a process is chosen once, here without Redis.
        versions.store()
        loaded = fresh_settings(monkeypatch, {"REDIS_URL": f"unix://{tmp_path}/redis.sock"})
        with override_settings(CACHES=loaded["CACHES"], REDIS_URL=loaded["REDIS_URL"]):
            yield server
    finally:
        server.kill()
        server.wait()


@pytest.fixture
def agent() -> TokenHolder:
    return agent_with_token()


def post(api: Api, page_id: str) -> float:
    """The duration of one accepted post, in seconds."""
    began = time.monotonic()
    answer = api.post("/api/messages", {"pageId": page_id, "content": "Hello"})
    assert answer.status == 201
    return time.monotonic() - began


@pytest.mark.parametrize("fault", ["freeze", "kill"])
@pytest.mark.parametrize("kind", ["agent", "person"])
def test_only_the_first_call_waits_for_unavailable_redis(
    redis: Popen[bytes], agent: TokenHolder, fault: str, kind: str
) -> None:
    api = agent.api if kind == "agent" else Api.as_person(PersonFactory())
    page_id: Any = PageFactory().pk
    post(api, page_id)
    redis.send_signal(signal.SIGSTOP if fault == "freeze" else signal.SIGKILL)
    attempts = ([post(api, page_id) for _ in range(CALLS)] for _ in range(ATTEMPTS))
    assert any(max(took) < WORST_SECONDS and sum(took) < WORST_SECONDS + CALLS * 0.05 for took in attempts)


def test_flushed_redis_loses_no_hourly_limit(redis: Popen[bytes], agent: TokenHolder, settings: Any) -> None:
    settings.HOURLY_LIMITS = settings.HOURLY_LIMITS | {"post": 1}
    page_id: Any = PageFactory().pk
    post(agent.api, page_id)
    cache.clear()
    refused = agent.api.post("/api/messages", {"pageId": page_id, "content": "One too many"})
    assert (refused.status, refused.error) == (429, "agent_rate_limited")
