"""What no request can carry is refused before anything is sent, by the client and by `cm`."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from community_messaging import AsyncClient, Client, Credential, ServiceError

from tests.client.commands import NOT_SIGNED_IN, REFUSED, USAGE, Command
from tests.client.scripted import CUT, Answer, Scripted, scripted

AGENT = "cag_" + "x" * 46
SUBJECT = base64.urlsafe_b64encode(json.dumps({"sub": "0199f000-0000-7000-8000-000000000000"}).encode()).decode()
USER_TOKEN = f"e30.{SUBJECT.rstrip('=')}.x"
SURROGATE = "\ud800"
CYCLE: dict[str, Any] = {}
CYCLE["again"] = CYCLE


@pytest.fixture
def server() -> Iterator[Scripted]:
    with scripted(CUT) as server:
        yield server


CALLS: list[Callable[[Any], Any]] = [
    lambda client: client.delete(""),
    lambda client: client.delete(".."),
    lambda client: client.delete(SURROGATE),
    lambda client: client.message(5),
    lambda client: client.message(None),
    lambda client: client.edit("m1", SURROGATE),
    lambda client: client.post(f"https://a.example/{SURROGATE}", "x"),
    lambda client: client.post("p1_x", "x", key="é"),
    lambda client: client.post("p1_x", "x", key="a\r\nX-Other: 1"),
    lambda client: client.post("p1_x", "x", key=" a"),
    lambda client: client.post("p1_x", "x", key=""),
    lambda client: client.post("p1_x", "x", key="a" * 161),
    lambda client: client.post("p1_x", "x", tag_type="review", payload={"rating": float("nan")}),
    lambda client: client.post("p1_x", "x", tag_type="review", payload={"rating": {1}}),
    lambda client: client.post("p1_x", "x", tag_type="review", payload=CYCLE),
]


def test_a_client_raises_invalid_input_and_sends_nothing(server: Scripted) -> None:
    for number, call in enumerate(CALLS):
        with Client(server.base_url, AGENT) as client, pytest.raises(ServiceError) as refused:
            call(client)
        assert (refused.value.code, refused.value.status, server.received) == ("invalid_input", 0, []), number
        assert refused.value.field, number
        assert not refused.value.is_unreachable, number
        assert not refused.value.is_passing, number


def test_a_search_for_what_no_url_can_have_is_invalid_input(server: Scripted) -> None:
    with Client(server.base_url, AGENT) as client, pytest.raises(ServiceError, match="invalid_input"):
        list(client.search(SURROGATE))
    assert server.received == []


def test_the_asynchronous_client_refuses_alike(server: Scripted) -> None:
    async def delete() -> None:
        async with AsyncClient(server.base_url, AGENT) as client:
            await client.delete("")

    with pytest.raises(ServiceError, match="invalid_input"):
        asyncio.run(delete())
    assert server.received == []


@pytest.mark.parametrize("token", [USER_TOKEN, AGENT])
def test_what_needs_a_sign_in_is_not_authenticated_without_one(server: Scripted, token: str) -> None:
    with Client(server.base_url, token) as client, pytest.raises(ServiceError, match="handle and password") as refused:
        client.sign_out_everywhere()
    assert (refused.value.code, refused.value.status, server.received) == ("not_authenticated", 401, [])


def test_a_credential_that_no_header_can_carry_is_refused() -> None:
    for parts in [("",), ("a\n",), ("é",), ("a", "b\n"), ("a", "b", "é")]:
        with pytest.raises(ValueError, match="visible ASCII"):
            Credential(*parts)


def cm(server: Scripted, token: str) -> Command:
    return Command(Path("/nonexistent"), server.base_url, {"CM_TOKEN": token})


WRONG = [
    (("delete", ""), REFUSED),
    (("delete", ".."), REFUSED),
    (("delete", "m1", "--key", "é"), REFUSED),
    (("delete", "m1", "--key", "a\nb"), REFUSED),
    (("delete", SURROGATE), REFUSED),
    (("search", SURROGATE), REFUSED),
    (("post", "p1_x", "x", "--tag", "review", "--payload", '{"rating": NaN}'), REFUSED),
    (("edit", "m1", SURROGATE), USAGE),
    (("--url", f"http://a.example/{SURROGATE}", "delete", "m1"), USAGE),
    (("--as", "person", "delete", "m1"), USAGE),
    (("--as", "person", "whoami"), USAGE),
]


def test_a_command_says_what_is_wrong_and_sends_nothing(server: Scripted) -> None:
    for words, code in WRONG:
        finished = cm(server, AGENT)(*words)
        assert (finished.code, server.received, finished.out) == (code, [], ""), finished
        assert finished.err, words


def test_the_error_of_a_command_is_json_where_json_is_asked_for(server: Scripted) -> None:
    error = cm(server, AGENT)("delete", "m1", "--key", "é", "--json").error
    assert (error["error"], error["field"], error["status"]) == ("invalid_input", "Idempotency-Key", 0)


def test_whoami_with_a_user_token_says_to_sign_in(server: Scripted) -> None:
    finished = cm(server, USER_TOKEN)("whoami")
    assert (finished.code, server.received) == (NOT_SIGNED_IN, [])
    assert "cm login, and unset CM_TOKEN" in finished.err


def test_an_agent_token_of_the_environment_is_used_as_the_agent() -> None:
    with scripted(Answer(200, {"id": "m1", "deleted": True})) as server:
        assert cm(server, AGENT)("--as", "agent", "delete", "m1").code == 0
    assert server.received[0].headers["authorization"] == f"Bearer {AGENT}"


def test_the_address_of_the_service_is_an_http_url() -> None:
    for url in ["", "example.com", "ftp://example.com", "http://"]:
        with pytest.raises(ValueError, match="not the address of a service"):
            Client(url)


def test_a_token_that_no_header_can_carry_is_refused() -> None:
    for token in ["", " ", "cag_\n", "cag_é"]:
        with pytest.raises(ValueError, match="visible ASCII"):
            Client("http://127.0.0.1", token)
