"""Limits of open streams, and credentials that end while a stream is open."""

from __future__ import annotations

import json
import time
from contextlib import ExitStack

import pytest

from tests.clients import Clients, bearer
from tests.remote import Remote
from tests.service import Service
from tests.streams.client import EventStream, following, open_stream
from tests.streams.posting import Poster
from tests.waiting import ATTEMPTS, PATIENCE_SECONDS

pytestmark = [pytest.mark.slow, pytest.mark.processes]

REVOKED_WITHIN_SECONDS = 2
# A stream whose client has gone gives up its place within moments.
FREE_WITHIN_SECONDS = PATIENCE_SECONDS


def test_an_address_has_twenty_streams(stream_service: Service) -> None:
    from_one = {"X-Forwarded-For": "203.0.113.7"}
    with ExitStack() as opened:
        for _ in range(20):
            opened.enter_context(following(stream_service.stream_port, headers=from_one))
        refused = open_stream(stream_service.stream_port, headers=from_one | {"Origin": "https://blog.example"})
        assert (refused.status, json.loads(refused.response.read())["error"]) == (429, "too_many_streams")
        assert refused.response.headers["Retry-After"] == "30"
        assert refused.response.headers["Access-Control-Allow-Origin"] == "*"
        with following(stream_service.stream_port, headers={"X-Forwarded-For": "203.0.113.8"}):
            pass
    assert most_at_once(stream_service, from_one, 20) == 20


def most_at_once(service: Service, headers: dict[str, str], count: int) -> int:
    """How many streams an address opens until one is refused, or `count`, within FREE_WITHIN_SECONDS."""
    deadline = time.monotonic() + FREE_WITHIN_SECONDS
    streams: list[EventStream] = []
    while len(streams) < count and time.monotonic() < deadline:
        stream = open_stream(service.stream_port, headers=headers)
        if stream.status == 200:
            streams.append(stream)
        else:
            stream.close()
            time.sleep(0.1)
    for stream in streams:
        stream.close()
    return len(streams)


def test_a_token_has_five_streams(stream_service: Service, clients: Clients) -> None:
    token = bearer(clients.agent_token())
    with ExitStack() as opened:
        for number in range(5):
            headers = token | {"X-Forwarded-For": f"203.0.113.{10 + number}"}
            opened.enter_context(following(stream_service.stream_port, headers=headers))
        refused = open_stream(stream_service.stream_port, headers=token | {"X-Forwarded-For": "203.0.113.20"})
        assert (refused.status, json.loads(refused.response.read())["error"]) == (429, "too_many_streams")


def test_the_stream_of_a_revoked_token_ends_and_another_goes_on(
    stream_service: Service, clients: Clients, poster: Poster
) -> None:
    assert any(ends_in_time(stream_service, clients, poster) for _ in range(ATTEMPTS))


def ends_in_time(stream_service: Service, clients: Clients, poster: Poster) -> bool:
    operator = clients.person()
    token, other = clients.agent_token(operator), clients.agent_token()
    with (
        following(stream_service.stream_port, headers=bearer(token)) as revoked,
        following(stream_service.stream_port, headers=bearer(other), pageId=poster.page_id) as untouched,
    ):
        remote = Remote(stream_service.port, operator.user)
        (listed,) = remote.call("GET", "/v1/agent-tokens").json["tokens"]
        assert remote.call("POST", f"/v1/agent-tokens/{listed['id']}/revoke", {}).status == 200
        in_time = revoked.is_over_within(REVOKED_WITHIN_SECONDS)
        post = poster.post()
        assert [event.data["messageId"] for event in untouched.take(1)] == [post]
    assert open_stream(stream_service.stream_port, headers=bearer(token)).status == 401
    return in_time


def test_a_persons_stream_ends_with_the_sessions_and_another_goes_on(
    stream_service: Service, clients: Clients, poster: Poster
) -> None:
    def ends_in_time() -> bool:
        person, other = clients.person(), clients.person()
        with (
            following(stream_service.stream_port, headers=person.user) as stream,
            following(stream_service.stream_port, headers=other.user, pageId=poster.page_id) as untouched,
        ):
            clients.ask("/api/auth/logout-all", {}, **person.signed_in)
            in_time = stream.is_over_within(REVOKED_WITHIN_SECONDS)
            post = poster.post()
            assert [event.data["messageId"] for event in untouched.take(1)] == [post]
        return in_time

    assert any(ends_in_time() for _ in range(ATTEMPTS))
