"""Limits of open streams, and credentials that end while a stream is open."""

from __future__ import annotations

import time
from contextlib import ExitStack

from tests.clients import Clients, bearer
from tests.remote import Remote
from tests.service import Service
from tests.streams.client import following, open_stream
from tests.streams.posting import Poster

REVOKED_WITHIN_SECONDS = 2
# A stream whose client has gone leaves its place within moments.
FREE_WITHIN_SECONDS = 10


def test_an_address_has_twenty_streams(stream_service: Service) -> None:
    from_one = {"X-Forwarded-For": "203.0.113.7"}
    with ExitStack() as opened:
        for _ in range(20):
            opened.enter_context(following(stream_service.stream_port, headers=from_one))
        refused = open_stream(stream_service.stream_port, headers=from_one | {"Origin": "https://blog.example"})
        assert (refused.status, refused.response.read()) == (429, b'{"error":"too_many_streams"}')
        assert refused.response.headers["Retry-After"] == "30"
        assert refused.response.headers["Access-Control-Allow-Origin"] == "*"
        with following(stream_service.stream_port, headers={"X-Forwarded-For": "203.0.113.8"}):
            pass
    assert is_free(stream_service, from_one)


def is_free(service: Service, headers: dict[str, str]) -> bool:
    deadline = time.monotonic() + FREE_WITHIN_SECONDS
    while time.monotonic() < deadline:
        stream = open_stream(service.stream_port, headers=headers)
        stream.close()
        if stream.status == 200:
            return True
        time.sleep(0.1)
    return False


def test_a_token_has_five_streams(stream_service: Service, clients: Clients) -> None:
    token = bearer(clients.agent_token())
    with ExitStack() as opened:
        for number in range(5):
            headers = token | {"X-Forwarded-For": f"203.0.113.{10 + number}"}
            opened.enter_context(following(stream_service.stream_port, headers=headers))
        refused = open_stream(stream_service.stream_port, headers=token | {"X-Forwarded-For": "203.0.113.20"})
        assert (refused.status, refused.response.read()) == (429, b'{"error":"too_many_streams"}')


def test_the_stream_of_a_revoked_token_ends_and_another_goes_on(
    stream_service: Service, clients: Clients, poster: Poster
) -> None:
    operator = clients.person()
    token, other = clients.agent_token(operator), clients.agent_token()
    with (
        following(stream_service.stream_port, headers=bearer(token)) as revoked,
        following(stream_service.stream_port, headers=bearer(other), pageId=poster.page_id) as untouched,
    ):
        remote = Remote(stream_service.port, operator.user)
        (listed,) = remote.call("GET", "/v1/agent-tokens").json["tokens"]
        assert remote.call("POST", f"/v1/agent-tokens/{listed['id']}/revoke", {}).status == 200
        assert revoked.is_over_within(REVOKED_WITHIN_SECONDS)
        post = poster.post()
        assert [event.data["messageId"] for event in untouched.take(1)] == [post]
    assert open_stream(stream_service.stream_port, headers=bearer(token)).status == 401


def test_a_persons_stream_ends_with_the_sessions(stream_service: Service, clients: Clients) -> None:
    person = clients.person()
    with following(stream_service.stream_port, headers=person.user) as stream:
        clients.ask("/api/auth/logout-all", {}, **person.signed_in)
        assert stream.is_over_within(REVOKED_WITHIN_SECONDS)
