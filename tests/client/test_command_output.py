"""What the command `cm` prints, and its exit codes, without a service or with prepared answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from community_messaging import RetryPolicy
from community_messaging.cli import program
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.client.commands import DONE, LIMITED, NOT_SIGNED_IN, REFUSED, UNREACHABLE, USAGE, Command
from tests.client.scripted import CUT, Answer, refusal, scripted

NEED_SIGN_IN = [
    ("whoami",),
    ("post", "https://a.example", "x"),
    ("reply", "m1", "x"),
    ("quote", "m1", "x"),
    ("react", "m1", "👍"),
    ("edit", "m1", "x"),
    ("delete", "m1"),
    ("inbox",),
    ("inbox", "--follow"),
    ("status",),
    ("cancel", "r1"),
    ("token", "list"),
    ("token", "create", "r1"),
    ("token", "rotate", "t1"),
    ("token", "revoke", "t1"),
    ("request", "--handle", "abc", "--name", "A", "--purpose", "p", "--scope", "post"),
]
# Nothing listens there.
AWAY = "http://127.0.0.1:9"


def used(url: str, token: str = "cag_x") -> Command:
    """The command of a user whose token is in the environment."""
    return Command(Path("/nonexistent"), url, {"CM_TOKEN": token})


def inbox_page(next_cursor: str, *ids: str, has_more: bool = False) -> Answer:
    others = dict.fromkeys(("actor", "pageId", "messageId", "message", "aboutId")) | {"at": "…", "data": {}}
    events = [{"id": event_id, "type": "reply"} | others for event_id in ids]
    return Answer(200, {"events": events, "hasMore": has_more, "nextCursor": next_cursor})


def test_an_inbox_without_events_ends_at_the_cursor_of_the_service() -> None:
    with scripted(inbox_page("c9")) as server:
        cm = used(server.base_url)
        assert cm("inbox", "--after", "c1", "--json").json == {"events": [], "nextCursor": "c9"}
        shown = cm("inbox", "--after", "c1", "--type", "reply")
    assert (shown.out, shown.err) == ("", "Further events: cm inbox --type reply --after c9\n")


def test_an_inbox_is_read_from_page_to_page_up_to_its_limit() -> None:
    pages = (inbox_page("c1", "c1", has_more=True), inbox_page("c2", has_more=True), inbox_page("c3", "c3"))
    with scripted(*pages) as server:
        cm = used(server.base_url)
        answer = cm("inbox", "--limit", "5", "--json").json
        assert ([event["id"] for event in answer["events"]], answer["nextCursor"]) == (["c1", "c3"], "c3")
    paths = ["/v1/inbox?limit=5", "/v1/inbox?limit=4&cursor=c1", "/v1/inbox?limit=4&cursor=c2"]
    assert [request.path for request in server.received] == paths
    with scripted(inbox_page("c2", "c1", "c2", has_more=True)) as server:
        cm = used(server.base_url)
        assert cm("inbox", "--limit", "2", "--json").json["nextCursor"] == "c2"
    assert len(server.received) == 1


def test_who_has_not_signed_in_is_told_so_before_a_call() -> None:
    cm = used(AWAY, "")
    for arguments in NEED_SIGN_IN:
        finished = cm(*arguments, "--json")
        assert (finished.code, finished.out) == (NOT_SIGNED_IN, ""), arguments
        assert finished.error["error"] == "not_authenticated", arguments
        assert "cm login" in cm(*arguments).err, arguments


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("nothing",),
        ("post", "https://a.example"),
        ("react", "m1"),
        ("react", "m1", "👍", "--remove"),
        ("post", "https://a.example", "x", "--payload", "{"),
        ("post", "https://a.example", "x", "--payload", "[1]"),
        ("post", "https://a.example", "\udcff"),
        ("read", "https://a.example", "--limit", "0"),
        ("login", "--register"),
        ("inbox", "--ack", "--type", "reply"),
        ("inbox", "--follow", "--unread"),
        ("request", "--handle", "abc"),
        ("completion", "tcsh"),
        ("--url", "ftp://a.example", "read", "https://a.example"),
    ],
    ids=ascii,
)
def test_wrong_usage_has_exit_code_2(arguments: tuple[str, ...]) -> None:
    assert used(AWAY)(*arguments).code == USAGE


def test_input_that_is_not_utf_8_is_wrong_usage() -> None:
    assert used(AWAY)("post", "https://a.example", "-", stdin=b"\xff").code == USAGE


def test_without_an_address_the_command_says_how_to_give_one() -> None:
    finished = Command(Path("/nonexistent"), None)("read", "https://a.example")
    assert (finished.code, "CM_URL" in finished.err) == (USAGE, True)


def test_a_limit_has_exit_code_4_and_its_seconds() -> None:
    limited = refusal(429, "agent_rate_limited", **{"Retry-After": "1234"})
    with scripted(limited) as server:
        cm = used(server.base_url)
        finished = cm("post", "p1_x", "Hello", "--json")
        assert (finished.code, finished.error["retryAfter"]) == (LIMITED, 1234)
        assert "1234 seconds" in cm("post", "p1_x", "Hello").err


def test_a_limit_without_seconds_is_a_refusal() -> None:
    with scripted(refusal(429, "too_many_pending_requests")) as server:
        cm = used(server.base_url, "e30.e30.x")
        assert cm("status").code == REFUSED


@pytest.mark.parametrize("answer", [CUT, Answer(502, b"<html></html>"), Answer(200, b"<html></html>"), Answer(301)])
def test_a_service_that_does_not_answer_has_exit_code_5(answer: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("community_messaging.cli.app.RETRY", RetryPolicy(attempts=1))
    with scripted(answer) as server:
        finished = Command(Path("/nonexistent"), server.base_url)("read", "https://a.example", "--json")
    assert (finished.code, finished.out) == (UNREACHABLE, "")
    assert finished.error["message"]


@pytest.mark.parametrize("answer", [CUT, Answer(500), Answer(504), Answer(201, b""), refusal(503, "away")])
def test_a_write_that_may_have_been_done_says_how_to_repeat_it(answer: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("community_messaging.cli.app.RETRY", RetryPolicy(attempts=1))
    with scripted(answer) as server:
        cm = used(server.base_url)
        shown = cm("post", "p1_x", "Hello")
        error = cm("delete", "m1", "--json").error
    first, second = (request.headers["idempotency-key"] for request in server.received)
    assert shown.err.endswith(f"\n  Repeat the command with: --key {first}\n")
    assert error["idempotencyKey"] == second


def test_a_refused_write_does_not_say_how_to_repeat_it() -> None:
    with scripted(refusal(422, "content_blocked")) as server:
        cm = used(server.base_url)
        assert cm("post", "p1_x", "Hello").err == "content_blocked: About content_blocked.\n"
        assert "idempotencyKey" not in cm("post", "p1_x", "Hello", "--key", "k1", "--json").error


def test_a_limit_that_no_time_lifts_does_not_say_how_to_repeat_the_write() -> None:
    words = ("request", "--handle", "abc", "--name", "A", "--purpose", "p", "--scope", "post")
    with scripted(refusal(429, "too_many_pending_requests")) as server:
        cm = used(server.base_url, "e30.e30.x")
        assert cm(*words).err == "too_many_pending_requests: About too_many_pending_requests.\n"
        assert "idempotencyKey" not in cm(*words, "--json").error


def test_a_limit_with_seconds_says_how_to_repeat_the_write() -> None:
    limited = refusal(429, "rate_limited", **{"Retry-After": "1234"})
    # The service refuses before it looks for the key: the first attempt may have been done.
    with scripted(CUT, limited) as server:
        cm = used(server.base_url)
        error = cm("delete", "m1", "--json").error
    assert {error["idempotencyKey"]} == {request.headers["idempotency-key"] for request in server.received}


def test_a_message_of_the_service_is_printed_without_control_characters() -> None:
    hostile = Answer(
        400, {"error": "bad\x1b[2J", "message": "a\nb\x9b", "details": [{"pointer": "\r"}] * 2, "allowed": ["\x07"]}
    )
    with scripted(hostile) as server:
        finished = Command(Path("/nonexistent"), server.base_url)("read", "p1_x")
    assert finished.err == "bad[2J: a b\n   \n   \n  allowed: \n"


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(lambda text: text.strip("-")))
def test_any_text_reaches_the_service_as_it_is(text: str) -> None:
    received: list[Any] = []

    def answer(request: Any) -> Answer:
        received.append(request.body["content"])
        return refusal(422, "content_blocked")

    with scripted(answer) as server:
        cm = used(server.base_url)
        assert cm("post", "p1_x", "--", text).code == REFUSED
        assert cm("post", "p1_x", "-", stdin=(text + "\n").encode()).code == REFUSED
    assert received == [text, text]


def test_every_command_has_help_and_takes_json() -> None:
    for name, command in program.commands.items():
        assert command.help, name
        assert "--json" in {word for parameter in command.params for word in parameter.opts} or name == "token", name


@pytest.mark.processes
def test_completion_is_printed() -> None:
    for shell in ("bash", "zsh", "fish"):
        finished = used(AWAY)("completion", shell)
        assert (finished.code, "_CM_COMPLETE" in finished.out) == (DONE, True)
