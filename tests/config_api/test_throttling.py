"""Soft throttles slow down floods and fail open."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

import mcp_server.views
from kernel.api import authentication, throttling
from kernel.api.bodies import BODY_MAX, parse_json
from kernel.api.credentials import CredentialKind
from kernel.api.exceptions import RateLimited
from kernel.api.operations import Operation, all_operations
from kernel.cache import versions
from kernel.cache.circuit_breaker import CircuitBreaker
from tests.agents.factories import agent_with_token
from tests.api import Api
from tests.conftest import start_redis
from tests.factories import MessageFactory, PageFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
PATH = "/api/messages"
BY_THE_CLOCK = throttling._slot


@pytest.fixture(autouse=True)
def _breaker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttling, "_breaker", CircuitBreaker(5.0, effect=""))


@pytest.fixture
def redis(settings: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A separate Redis with longer time-outs than in production, because tests run on a busy machine."""
    with tempfile.TemporaryDirectory(prefix="cm-redis-") as home:
        server = start_redis(Path(home))
        options = {"SOCKET_CONNECT_TIMEOUT": 0.4, "SOCKET_TIMEOUT": 0.4}
        backend = {"BACKEND": "django_redis.cache.RedisCache", "LOCATION": f"unix://{home}/redis.sock"}
        # A process chooses its version store once; here without Redis.
        versions.store()
        settings.REDIS_URL = backend["LOCATION"]
        settings.CACHES = {"default": backend | {"OPTIONS": options}}
        settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"person": (2, 3600)}
        try:
            yield server
        finally:
            # A process that the test has stopped ends too.
            server.kill()
            server.wait()


def hits(count: int, who: str = "a client") -> list[bool]:
    """Whether each of `count` requests passes."""
    return [_passes(who) for _ in range(count)]


def _passes(who: str) -> bool:
    try:
        throttling.hit("person", who)
    except RateLimited:
        return False
    return True


def test_the_default_rates(settings: Any) -> None:
    rates = {"person": (300, 3600), "agent_refused": (600, 60), "read": (6000, 60)}
    rates |= {"register": (10, 60)}
    rates |= dict.fromkeys(("ingest", "normalize_url", "session", "search", "dry_run"), (120, 60))
    assert settings.SOFT_THROTTLES.items() >= rates.items()
    attempts = {"sign_in": (10, 60), "sign_in_account": (100, 3600), "second_factor": (20, 3600)}
    assert settings.ATTEMPT_LIMITS.items() >= attempts.items()


def test_writes_of_a_person_are_bounded_and_reads_are_not(settings: Any) -> None:
    settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"person": (3, 3600)}
    person, page = Api.as_person(PersonFactory()), PageFactory().pk
    body = {"pageId": page, "content": "Hi"}
    responses = [person.post(PATH, body) for _ in range(4)]
    assert [response.status for response in responses] == [201, 201, 201, 429]
    assert responses[-1].error == "rate_limited"
    assert 1 <= int(responses[-1].headers["Retry-After"]) <= 3600
    assert person.get(PATH, pageId=page).status == 200
    assert Api.as_person(PersonFactory()).post(PATH, body).status == 201, "each account is counted separately"


def test_both_token_kinds_of_a_person_share_a_rate(settings: Any) -> None:
    settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"person": (1, 3600)}
    person = PersonFactory()
    assert Api.as_signed_in(person).post("/api/auth/embed-token").status == 200
    assert Api.as_person(person).post(PATH, {"pageId": PageFactory().pk, "content": "Hi"}).error == "rate_limited"


def reads(*addresses: str) -> list[int]:
    path = f"{PATH}/{MessageFactory().pk}"
    return [Api().send("GET", path, address=address).status for address in addresses]


def test_reads_of_a_client_network_are_bounded(settings: Any) -> None:
    settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"read": (2, 60)}
    assert reads(*["192.0.2.1"] * 3, "192.0.2.2", "::ffff:192.0.2.2", "192.0.2.2") == [200, 200, 429, 200, 200, 429]
    assert reads("2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8:0:1::1") == [200, 200, 429, 200]
    refused = Api().send("GET", "/v1/smart-tags", address="192.0.2.1")
    assert (refused.status, refused.error) == (429, "rate_limited")
    assert 1 <= int(refused.headers["Retry-After"]) <= 60


def test_searches_of_a_client_network_are_bounded(settings: Any) -> None:
    settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"search": (2, 60)}
    searches = [Api().send("GET", "/v1/search?q=words", address="192.0.2.1") for _ in range(3)]
    assert [search.status for search in searches] == [200, 200, 429]
    assert reads("192.0.2.1") == [200]
    assert [Api().get("/v1/search", q="words").status for _ in range(3)] == [200] * 3


def test_dry_runs_of_an_account_are_bounded(settings: Any) -> None:
    settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"dry_run": (2, 60)}
    body = {"pageId": PageFactory().pk, "content": "Hi"}
    for api in (agent_with_token().api, Api.as_person(PersonFactory())):
        answers = [api.post(f"{PATH}?dryRun=true", body) for _ in range(3)]
        assert [answer.status for answer in answers] == [200, 200, 429]
        assert answers[-1].error == "rate_limited"
        assert api.post(PATH, body).status == 201


def test_reads_from_this_machine_are_not_counted(settings: Any) -> None:
    settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"read": (0, 60)}
    assert reads("127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1", "") == [200] * 5
    assert reads("192.0.2.1") == [429]


def test_writes_do_not_count_as_reads(settings: Any) -> None:
    settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"read": (0, 60)}
    body = {"url": "https://example.com/"}
    assert Api().send("POST", "/v1/presence/normalize-url", body, address="192.0.2.1").status == 200


@pytest.mark.processes
def test_reads_are_counted_without_redis(redis: subprocess.Popen[bytes], settings: Any) -> None:
    settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"read": (1, 60)}
    redis.kill()
    redis.wait()
    assert reads("192.0.2.1", "192.0.2.1") == [200, 429]


def test_refused_requests_of_an_agent_are_bounded(settings: Any) -> None:
    settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"agent_refused": (3, 60)}
    agent, post = agent_with_token(), MessageFactory()
    body = {"pageId": post.page_id, "content": "Hi"}
    refused = [
        agent.api.post(PATH, {}).status,
        agent.api.post("/v1/agent-tokens/requests", {}).status,
        agent.api.get(f"{PATH}/nothing").status,
    ]
    assert refused == [400, 403, 404]
    for response in (agent.api.post(PATH, body), agent.api.get(f"{PATH}/{post.pk}"), agent.api.put("/v1/agent-tokens")):
        assert (response.status, response.error) == (429, "rate_limited")
        assert 1 <= int(response.headers["Retry-After"]) <= 60
    assert agent_with_token().api.post(PATH, body).status == 201, "each token is counted separately"


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The bodies that the service has parsed."""
    bodies: list[bytes] = []

    def record(body: bytes) -> Any:
        bodies.append(body)
        return parse_json(body)

    monkeypatch.setattr(authentication, "parse_json", record)
    monkeypatch.setattr(mcp_server.views, "parse_json", record)
    return bodies


REMOTE = "192.0.2.1"


def throttle_of(operation: Operation) -> str:
    if operation.is_check:
        return "dry_run"
    if not operation.is_write:
        return throttling.READ
    return operation.throttle or "person"


@pytest.mark.slow
def test_a_request_over_its_rate_is_refused_before_its_body_is_parsed(parsed: list[bytes], settings: Any) -> None:
    settings.WEBHOOKS = True
    person, rates = SuperAdminFactory(), settings.SOFT_THROTTLES
    with_body = [
        (*row, operation) for *row, operation in all_operations() if operation.has_body or operation.is_gateway
    ]
    assert len(with_body) > 20
    for path, method, operation in with_body:
        caller = Api.as_signed_in(person) if CredentialKind.SIGNED_IN in operation.callers else Api.as_person(person)
        url = "/" + path.replace("<str:id>", "0199f000-0000-7000-8000-000000000000")
        brackets = b"[" * operation.body_max
        statuses = []
        for rate in ((10**9, 60), (0, 60)):
            settings.SOFT_THROTTLES = rates | {throttle_of(operation): rate}
            statuses.append(caller.send(method, url, raw=brackets, address=REMOTE).status)
        assert (statuses, len(parsed)) == ([400, 429], 1), operation.id
        assert parsed.pop() == brackets


def test_a_body_of_an_agent_with_too_many_refused_requests_is_not_parsed(parsed: list[bytes], settings: Any) -> None:
    settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"agent_refused": (0, 60)}
    response = agent_with_token().api.send("POST", PATH, raw=b"[" * BODY_MAX)
    assert (response.status, response.error, parsed) == (429, "rate_limited", [])


def test_successful_requests_of_an_agent_are_not_counted(settings: Any) -> None:
    settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"agent_refused": (1, 60), "person": (1, 3600)}
    agent, page = agent_with_token(), PageFactory().pk
    assert {agent.api.post(PATH, {"pageId": page, "content": "Hi"}).status for _ in range(5)} == {201}


def test_a_window_ends(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"person": (2, 60)}
    monkeypatch.setattr(throttling, "_slot", BY_THE_CLOCK)
    for start in (1_800_000_000.0, 1_800_000_010.5, 1_800_000_059.999):
        monkeypatch.setattr(time, "time", lambda start=start: start)
        assert hits(3, str(start)) == [True, True, False]
        with pytest.raises(RateLimited) as refused:
            throttling.hit("person", str(start))
        wait = int(refused.value.headers["Retry-After"])
        assert 1 <= wait <= 60
        monkeypatch.setattr(time, "time", lambda start=start, wait=wait: start + wait)
        assert hits(3, str(start)) == [True, True, False]


@pytest.mark.processes
@pytest.mark.usefixtures("redis")
def test_all_processes_share_the_counts_in_redis() -> None:
    assert hits(4) == [True, True, False, False]
    assert hits(1, who="another") == [True]


@pytest.mark.processes
def test_without_redis_every_request_passes(redis: subprocess.Popen[bytes]) -> None:
    assert hits(3) == [True, True, False]
    redis.kill()
    redis.wait()
    assert hits(20) == [True] * 20
    assert Api.as_person(PersonFactory()).post(PATH, {"pageId": PageFactory().pk, "content": "Hi"}).status == 201


@pytest.mark.processes
def test_a_frozen_redis_costs_one_time_out_only(redis: subprocess.Popen[bytes]) -> None:
    """The breaker opens at the first: no later request asks Redis."""
    assert hits(3) == [True, True, False]
    os.kill(redis.pid, signal.SIGSTOP)
    assert hits(1) == [True]
    asked: list[object] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Redis, "execute_command", lambda *command, **_options: asked.append(command))
        assert hits(50) == [True] * 50
    assert asked == []


@pytest.mark.processes
def test_redis_counts_again_when_the_breaker_closes(
    redis: subprocess.Popen[bytes], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.kill(redis.pid, signal.SIGSTOP)
    assert hits(3) == [True] * 3
    os.kill(redis.pid, signal.SIGCONT)
    assert hits(3) == [True] * 3
    # On a busy machine a thawed Redis takes a while.
    Redis.from_url(settings.CACHES["default"]["LOCATION"]).ping()
    monkeypatch.setattr(throttling, "_breaker", CircuitBreaker(5.0, effect=""))
    assert hits(4, "later") == [True, True, False, False]
