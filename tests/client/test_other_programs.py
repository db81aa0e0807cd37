"""JSON of another program in the place of the service is an error that says so, of the client and of `cm`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from community_messaging import Client, Credential, RetryPolicy, ServiceError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.client.commands import DONE, UNREACHABLE, Command
from tests.client.scripted import Answer, Received, Scripted, scripted

AGENT = "cag_" + "x" * 46
SIGN_IN = Credential("token", "u1", "access", "refresh")
URL = "https://a.example"
OTHERS = [
    {"status": "ok"},
    {"account": None, "accessToken": 5, "counts": 5, "events": None, "messages": None, "pageId": 5, "reactions": "x"},
    {"messages": [], "events": []},
    {"messages": [], "events": [], "hasMore": True, "nextCursor": None},
]
CALLS: list[Callable[[Client], Any]] = [
    lambda client: client.whoami(),
    lambda client: client.sign_in("ada", "a password"),
    lambda client: client.register("ada", "Ada", "a password"),
    lambda client: client.run(client.renew("refresh")),
    lambda client: client.post(URL, "Hello"),
    lambda client: client.reply("m1", "Hello"),
    lambda client: client.quote("m1", "Hello"),
    lambda client: client.react("m1", "x"),
    lambda client: client.unreact("m1"),
    lambda client: client.request_agent(name="A", handle="abc", purpose="p", scopes=["post"]),
    lambda client: client.cancel_agent_request("r1"),
    lambda client: client.create_agent_token("r1"),
    lambda client: client.rotate_agent_token("t1"),
    lambda client: client.revoke_agent_token("t1"),
    lambda client: list(client.messages("p1_x")),
    lambda client: list(client.replies("m1")),
    lambda client: client.own_reactions("p1_x"),
    lambda client: client.presence([URL]),
    lambda client: client.participants("p1_x"),
    lambda client: client.smart_tags(),
    lambda client: list(client.inbox()),
    lambda client: client.inbox_page(),
    lambda client: next(client.follow_inbox()),
    lambda client: client.test_webhook("w1"),
]
TOKEN_COMMANDS = [("token", "create", "r1"), ("token", "create", "r1", "--save"), ("token", "rotate", "t1")]
COMMANDS = [
    ("whoami",),
    ("read", URL),
    ("read", "p1_x"),
    ("read", "p1_x", "--replies-to", "m1"),
    ("search", "x"),
    ("inbox",),
    ("post", "p1_x", "Hello"),
    ("reply", "m1", "Hello"),
    ("react", "m1", "x"),
    ("react", "m1", "--remove"),
    ("delete", "m1"),
    ("request", "--handle", "abc", "--name", "A", "--purpose", "p", "--scope", "post"),
    ("status",),
    ("status", "r1"),
    ("cancel", "r1"),
    ("token", "list"),
    ("token", "revoke", "t1"),
    *TOKEN_COMMANDS,
]
KEYS = [
    "id",
    "messages",
    "events",
    "requests",
    "account",
    "author",
    "limits",
    "message",
    "token",
    "pageId",
    "nextCursor",
]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda values: st.lists(values, max_size=2) | st.dictionaries(st.sampled_from(KEYS), values, max_size=5),
    max_leaves=8,
)
json_objects = st.dictionaries(st.sampled_from(KEYS), json_values, min_size=1)


@pytest.fixture(scope="module")
def program() -> Iterator[Scripted]:
    """Another program in the place of the service; a test sets its answer."""
    with scripted(Answer()) as server:
        yield server


@pytest.mark.parametrize("other", OTHERS, ids=range(len(OTHERS)))
def test_a_client_raises_invalid_response(program: Scripted, other: dict[str, Any]) -> None:
    program.answers(Answer(200, other))
    for number, call in enumerate(CALLS):
        with Client(program.base_url, AGENT, retry=RetryPolicy(attempts=1)) as client:
            with pytest.raises(ServiceError) as failed:
                call(client)
            found = (failed.value.code, failed.value.status, failed.value.is_unreachable)
        assert found == ("invalid_response", 200, True), number


def test_a_token_that_no_header_can_carry_is_an_invalid_response() -> None:
    answer = Answer(200, {"accessToken": "x", "refreshToken": "x", "user": {}, "token": "é", "userId": "u1"})
    with scripted(answer) as server, Client(server.base_url) as client, pytest.raises(ServiceError) as failed:
        client.sign_in("ada", "a password")
    assert failed.value.code == "invalid_response"


@pytest.mark.parametrize("token", [AGENT, "e30.e30.x"], ids=["agent", "person"])
def test_a_command_says_so_in_one_sentence(program: Scripted, token: str, tmp_path: Path) -> None:
    for words in COMMANDS:
        if (words, token) == (("whoami",), "e30.e30.x"):
            continue  # Refused without a call.
        program.answers(Answer(200, {"status": "ok", "account": None, "messages": 5}))
        finished = Command(tmp_path, program.base_url, {"CM_TOKEN": token})(*words)
        assert (finished.code, finished.out) == (UNREACHABLE, ""), words
        sentence, *repetition = finished.err.splitlines()
        assert sentence.startswith("invalid_response: The response "), words
        assert sentence.endswith("is this the base address of the service?"), words
        assert repetition == [f"  Repeat the command with: --key {key}" for key in keys_of(program)], words


def keys_of(server: Scripted) -> list[str]:
    """The Idempotency-Keys of the writes that it has received."""
    return [key for request in server.received if (key := request.headers.get("idempotency-key"))]


def test_a_removal_of_a_reaction_that_is_answered_by_another_program_says_how_to_repeat_it(tmp_path: Path) -> None:
    def service(request: Received) -> Answer:
        own = {"reactions": [{"messageId": "m1", "reactionId": "1"}], "id": "m1", "pageId": "p1_x"}
        return Answer(200, {"status": "ok"} if request.method == "DELETE" else own)

    with scripted(service) as server:
        finished = Command(tmp_path, server.base_url, {"CM_TOKEN": AGENT})("react", "m1", "--remove", "--json")
    assert (finished.code, [finished.error["idempotencyKey"]]) == (UNREACHABLE, keys_of(server))


def test_a_new_token_that_no_header_can_carry_is_an_invalid_response(program: Scripted, tmp_path: Path) -> None:
    for words, value in product(TOKEN_COMMANDS, (5, "", "é")):
        program.answers(Answer(201, {"token": value, "tokenId": "t2", "prefix": "cag_x", "expiresAt": "…"}))
        finished = Command(tmp_path, program.base_url, {"CM_TOKEN": "e30.e30.x"})(*words, "--json")
        assert (finished.code, finished.out, finished.error["error"]) == (UNREACHABLE, "", "invalid_response"), words
        assert [finished.error["idempotencyKey"]] == keys_of(program), words
        assert list(tmp_path.iterdir()) == [], words


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.sampled_from(COMMANDS), answer=json_objects)
def test_no_answer_is_a_traceback(
    program: Scripted, words: tuple[str, ...], answer: dict[str, Any], tmp_path: Path
) -> None:
    program.answers(Answer(200, answer | {"hasMore": False}))
    finished = Command(tmp_path, program.base_url, {"CM_TOKEN": AGENT})(*words)
    assert finished.code in (DONE, UNREACHABLE), finished
