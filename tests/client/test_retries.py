"""Which requests the client sends again, when, and what it raises in the end."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from community_messaging import AsyncClient, Client, Credential, RetryPolicy, ServiceError
from community_messaging.errors import ServiceError as Error
from hypothesis import given
from hypothesis import strategies as st

from tests.client.scripted import CUT, Answer, Received, refusal, scripted
from tests.service import free_port

AGENT = "cag_" + "x" * 46
POST = Answer(201, {"id": "m1"})
TAGS = Answer(200, {"smartTags": []})
QUICK = RetryPolicy(attempts=4, max_wait=5, first_pause=0.01)
PASSING = [
    CUT,
    refusal(503, "temporarily_unavailable", **{"Retry-After": "0"}),
    refusal(409, "idempotency_in_progress", **{"Retry-After": "0"}),
    refusal(429, "agent_rate_limited", **{"Retry-After": "0"}),
    Answer(502, b"<html>Bad gateway</html>"),
    Answer(504),
]


def failure_of(
    call: Callable[[Client], Any],
    *answers: Answer | Callable[[Received], Answer],
    credential: str | Credential | None = None,
    retry: RetryPolicy | None = None,
) -> tuple[ServiceError, list[Received]]:
    """What a call raises, and the requests that it has sent."""
    with (
        scripted(*answers) as server,
        Client(server.base_url, credential, retry=retry) as client,
        pytest.raises(ServiceError) as failed,
    ):
        call(client)
    return failed.value, server.received


def test_all_attempts_of_a_write_have_one_key() -> None:
    for failure in PASSING:
        with scripted(failure, failure, POST) as server, Client(server.base_url, AGENT, retry=QUICK) as client:
            assert client.post("p1_x", "Hello")["id"] == "m1", failure
            assert client.post("p1_x", "Hello")["id"] == "m1", failure
        keys = [request.headers["idempotency-key"] for request in server.received]
        assert len(keys) == 4, failure
        assert keys[0] == keys[1] == keys[2] != keys[3], failure


def write(client: Client) -> Any:
    return client.post("p1_x", "Hello")


def read(client: Client) -> Any:
    return client.smart_tags()


UNANSWERED = [
    *PASSING,
    Answer(500),
    Answer(200, b"<html></html>"),
    Answer(200, b"no gzip", {"Content-Encoding": "gzip"}),
]


def test_the_error_of_a_write_has_its_key() -> None:
    for key in [None, "mine"]:
        for failure in UNANSWERED:
            once = RetryPolicy(attempts=1)
            error, received = failure_of(
                lambda client, key=key: client.post("p1_x", "Hello", key=key), failure, credential=AGENT, retry=once
            )
            assert error.key == received[0].headers["idempotency-key"], (key, failure)
            assert key in (None, error.key), (key, failure)


@pytest.mark.parametrize(
    "call",
    [
        read,
        lambda client: client.dry_run("p1_x", "Hello"),
        lambda client: client.post("https://a.example", "Hello"),
        lambda client: client.sign_in("ada", "a password"),
    ],
    ids=["read", "dry run", "before the write", "sign-in"],
)
def test_the_error_of_what_no_key_repeats_has_none(call: Callable[[Client], Any]) -> None:
    signed_in = Answer(200, {"accessToken": "access", "refreshToken": "refresh", "user": {}})

    def service(request: Received) -> Answer:
        return signed_in if request.path == "/api/auth/login" else Answer(500)

    error, _received = failure_of(call, service)
    assert (error.status, error.key) == (500, None)


def test_a_given_key_is_sent() -> None:
    with scripted(POST) as server, Client(server.base_url, AGENT) as client:
        client.post("p1_x", "Hello", key="mine")
    assert server.received[0].headers["idempotency-key"] == "mine"


def test_the_asynchronous_client_retries_alike() -> None:
    async def post(base_url: str) -> Any:
        async with AsyncClient(base_url, AGENT, retry=QUICK) as client:
            return await client.post("p1_x", "Hello")

    with scripted(*PASSING[:3], POST) as server:
        assert asyncio.run(post(server.base_url))["id"] == "m1"
    assert len({request.headers["idempotency-key"] for request in server.received}) == 1


def test_reads_are_retried() -> None:
    with scripted(CUT, TAGS) as server, Client(server.base_url, retry=QUICK) as client:
        assert client.smart_tags() == []


def test_a_refusal_is_not_retried() -> None:
    error, received = failure_of(write, refusal(422, "content_blocked"), POST, credential=AGENT)
    assert (error.code, len(received)) == ("content_blocked", 1)


def test_registering_is_not_retried() -> None:
    error, received = failure_of(lambda client: client.register("ada", "Ada", "a password"), CUT, retry=QUICK)
    assert (error.code, len(received)) == ("unreachable", 1)


def test_a_limit_that_time_does_not_lift_is_not_retried() -> None:
    error, received = failure_of(
        lambda client: client.request_agent(name="A", handle="abc", purpose="p", scopes=["post"]),
        refusal(429, "too_many_pending_requests"),
        credential=AGENT,
    )
    assert (error.retry_after, len(received)) == (None, 1)


def test_a_retry_after_beyond_the_bound_fails_at_once() -> None:
    limited = refusal(429, "agent_rate_limited", **{"Retry-After": "3600"})
    error, received = failure_of(write, limited, credential=AGENT)
    assert (error.retry_after, len(received)) == (3600, 1)


def test_attempts_are_bounded() -> None:
    error, received = failure_of(write, CUT, credential=AGENT, retry=QUICK)
    assert (error.code, error.status, len(received)) == ("unreachable", 0, 4)


def test_a_closed_port_is_unreachable() -> None:
    address = f"http://127.0.0.1:{free_port()}"
    with Client(address, retry=RetryPolicy(attempts=1)) as client, pytest.raises(ServiceError) as failed:
        client.smart_tags()
    assert failed.value.is_unreachable


def test_a_success_that_is_no_json_object_is_an_error() -> None:
    for body in [b"", b"<html></html>", b"[]", b"\xff", b"[" * 100_000]:
        error, _received = failure_of(read, Answer(200, body))
        assert (error.code, error.status) == ("invalid_response", 200), body


def test_a_response_that_cannot_be_decoded_is_an_error() -> None:
    error, received = failure_of(read, Answer(200, b"no gzip", {"Content-Encoding": "gzip"}))
    assert (error.code, error.is_unreachable, len(received)) == ("invalid_response", True, 1)


def test_the_first_result_of_a_key_is_no_success_of_another_write() -> None:
    first = Answer(201, {"id": "m1"}, {"Idempotency-Replayed": "true", "Idempotency-Payload-Mismatch": "true"})
    error, received = failure_of(
        lambda client: client.post("p1_x", "Another text", key="mine"), first, credential=AGENT, retry=QUICK
    )
    assert (error.code, error.body["first"]) == ("idempotency_key_reused", {"id": "m1"})
    assert not error.is_unreachable
    assert len(received) == 1


def test_a_redirect_is_an_error_that_names_the_address() -> None:
    moved = Answer(301, b"", {"Location": "https://elsewhere.example/"})
    with (
        scripted(moved) as server,
        Client(server.base_url, AGENT) as client,
        pytest.raises(ServiceError, match=r"https://elsewhere\.example/") as failed,
    ):
        client.smart_tags()
    assert failed.value.code == "http_301"


def test_an_error_of_another_program_has_the_code_of_its_status() -> None:
    for body in [{"error": 5}, {"error": None}, {"message": "x"}, ["error"], "error"]:
        error, _received = failure_of(read, Answer(400, body))
        assert (error.code, error.details, error.allowed) == ("http_400", [], []), body


@given(st.text(max_size=20))
def test_a_retry_after_is_a_short_number_or_ignored(header: str) -> None:
    from community_messaging.errors import _seconds

    seconds = _seconds(header)
    assert seconds is None or 0 <= seconds < 10**9


@given(attempt=st.integers(1, 100), waited=st.floats(0, 100), after=st.none() | st.integers(0, 10_000))
def test_a_call_never_waits_longer_than_its_policy_allows(attempt: int, waited: float, after: int | None) -> None:
    policy, error = RetryPolicy(attempts=6, max_wait=20), Error("temporarily_unavailable", "", status=503)
    error.retry_after = after
    pause = policy.pause(error, attempt=attempt, waited=waited)
    assert pause is None or (attempt < 6 and pause >= (after or 0) and waited + pause <= 20)


def user_token(name: str) -> str:
    claims = base64.urlsafe_b64encode(json.dumps({"sub": "u1", "n": name}).encode()).decode().rstrip("=")
    return f"e30.{claims}.c2ln"


class Renewing:
    """A service whose first user token has expired."""

    def __call__(self, request: Received) -> Answer:
        match request.path:
            case "/api/auth/refresh":
                assert "authorization" not in request.headers
                return Answer(200, {"accessToken": "access-2", "expiresAt": "…"})
            case "/api/auth/embed-token":
                assert request.headers["authorization"] == "Bearer access-2"
                return Answer(200, {"token": user_token("new"), "userId": "u1", "expiresAt": "…"})
            case _ if request.headers["authorization"] == f"Bearer {user_token('new')}":
                return Answer(201, {"id": "m1"})
            case _:
                return refusal(401, "token_expired")


def test_an_expired_user_token_is_renewed_once_with_the_sign_in() -> None:
    old = Credential(user_token("old"), "u1", "access-1", "refresh-1")
    with scripted(Renewing()) as server, Client(server.base_url, old) as client:
        assert client.post("p1_x", "Hello")["id"] == "m1"
        assert client.credential == Credential(user_token("new"), "u1", "access-2", "refresh-1")
    first, *_, last = server.received
    assert first.headers["idempotency-key"] == last.headers["idempotency-key"]
    assert first.headers["x-user-id"] == "u1"


def test_an_expired_sign_in_is_an_error() -> None:
    old = Credential(user_token("old"), "u1", "access-1", "refresh-1")
    error, received = failure_of(write, refusal(401, "token_expired"), credential=old)
    assert (error.status, len(received)) == (401, 2)


def test_a_user_token_alone_is_not_renewed_and_names_its_person() -> None:
    with (
        scripted(refusal(401, "token_expired")) as server,
        Client(server.base_url, user_token("x")) as client,
        pytest.raises(ServiceError),
    ):
        client.post("p1_x", "Hello")
    assert [request.headers["x-user-id"] for request in server.received] == ["u1"]


@given(st.text(alphabet=st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1))
def test_any_text_as_a_token_is_a_credential(token: str) -> None:
    credential = Credential.of(token)
    assert credential
    assert credential.headers["Authorization"] == f"Bearer {token}"
