"""The command `cm`: what each command does and prints, and its exit codes."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from pathlib import Path
from secrets import token_hex
from threading import Event
from typing import Any

import pytest
from community_messaging import RetryPolicy
from community_messaging.cli import program
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.client.commands import DONE, LIMITED, NOT_SIGNED_IN, REFUSED, UNREACHABLE, USAGE, Command
from tests.client.scripted import CUT, Answer, Received, refusal, scripted
from tests.clients import PASSWORD, Clients
from tests.service import free_port
from tests.waiting import PATIENCE_SECONDS

COMMANDS = sorted(program.commands)
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


def new_url() -> str:
    return f"https://command.example/{token_hex(8)}"


def posted(cm: Command, *arguments: str, **options: Any) -> Any:
    finished = cm(*arguments, "--json", **options)
    assert finished.code == DONE, finished
    return finished.json


@pytest.mark.journey
@pytest.mark.slow
@pytest.mark.processes
def test_a_post_is_written_and_read(agent_cm: Command) -> None:
    url = new_url()
    message = posted(agent_cm, "post", url, "Hello")
    reply = posted(agent_cm, "reply", message["id"], "-", stdin="A reply\nof two lines\n")
    assert (reply["parentId"], reply["content"]) == (message["id"], "A reply\nof two lines")
    assert posted(agent_cm, "quote", message["id"], "A quote")["quoteId"] == message["id"]
    assert [found["content"] for found in agent_cm("read", url, "--json").json["messages"]] == ["A quote", "Hello"]
    assert [found["content"] for found in agent_cm("read", url, "--limit", "1", "--json").json["messages"]] == [
        "A quote"
    ]
    answers = agent_cm("read", url, "--replies-to", message["id"], "--json").json["messages"]
    assert [found["id"] for found in answers] == [reply["id"]]
    shown = agent_cm("read", url)
    assert (shown.code, "1 replies" in shown.out, message["id"] in shown.out) == (DONE, True, True)


@pytest.mark.slow
@pytest.mark.processes
def test_a_reaction_is_set_and_removed(agent_cm: Command) -> None:
    message_id = posted(agent_cm, "post", new_url(), "Hello")["id"]
    assert agent_cm("react", message_id, "👍").out == "added\n"
    assert agent_cm("react", message_id, "--remove", "--json").json["action"] == "removed"
    assert agent_cm("react", message_id, "--remove").out == "You have no reaction to that post.\n"


@pytest.mark.slow
@pytest.mark.processes
def test_a_smart_tag_takes_its_payload_as_json(agent_cm: Command) -> None:
    arguments = ("post", new_url(), "A summary", "--tag", "note", "--payload")
    assert posted(agent_cm, *arguments, '{"a": 1}')["payload"] == {"a": 1}
    assert posted(agent_cm, *arguments, "-", stdin='{"b": 2}')["payload"] == {"b": 2}


@pytest.mark.slow
@pytest.mark.processes
def test_the_same_key_writes_once(agent_cm: Command) -> None:
    arguments = ("post", new_url(), "Once", "--key", "k1")
    assert posted(agent_cm, *arguments)["id"] == posted(agent_cm, *arguments)["id"]


@pytest.mark.slow
@pytest.mark.processes
def test_search_joins_its_words(agent_cm: Command) -> None:
    url, word = new_url(), f"w{token_hex(6)}"
    posted(agent_cm, "post", url, f"some {word} here")
    assert len(agent_cm("search", "some", word, "--page", url, "--json").json["messages"]) == 1


@pytest.mark.slow
@pytest.mark.processes
def test_the_inbox_goes_on_after_a_cursor(agent_cm: Command, clients: Clients) -> None:
    message_id = posted(agent_cm, "post", new_url(), "Hello")["id"]
    other = Command(agent_cm.home, agent_cm.url, {"CM_TOKEN": clients.agent_token()})
    posted(other, "reply", message_id, "An answer")
    first = agent_cm("inbox", "--type", "reply", "--json").json
    assert [event["type"] for event in first["events"]] == ["reply"]
    later = agent_cm("inbox", "--type", "reply", "--after", first["nextCursor"], "--json").json
    assert later["events"] == []
    shown = agent_cm("inbox", "--type", "reply")
    assert "An answer" in shown.out
    # Any cursor: it is at the end of the log of all accounts, which may be longer than at the first call.
    assert re.search(r"--after \S+", shown.err)


def inbox_page(next_cursor: str, *ids: str, has_more: bool = False) -> Answer:
    others = dict.fromkeys(("actor", "pageId", "messageId", "message", "aboutId")) | {"at": "…", "data": {}}
    events = [{"id": event_id, "type": "reply"} | others for event_id in ids]
    return Answer(200, {"events": events, "hasMore": has_more, "nextCursor": next_cursor})


@pytest.mark.slow
@pytest.mark.processes
def test_an_inbox_without_events_ends_at_the_cursor_of_the_service() -> None:
    with scripted(inbox_page("c9")) as server:
        cm = Command(Path("/nonexistent"), server.base_url, {"CM_TOKEN": "cag_x"})
        assert cm("inbox", "--after", "c1", "--json").json == {"events": [], "nextCursor": "c9"}
        shown = cm("inbox", "--after", "c1", "--type", "reply")
    assert (shown.out, shown.err) == ("", "Further events: cm inbox --type reply --after c9\n")


@pytest.mark.slow
@pytest.mark.processes
def test_an_inbox_is_read_from_page_to_page_up_to_its_limit() -> None:
    pages = (inbox_page("c1", "c1", has_more=True), inbox_page("c2", has_more=True), inbox_page("c3", "c3"))
    with scripted(*pages) as server:
        cm = Command(Path("/nonexistent"), server.base_url, {"CM_TOKEN": "cag_x"})
        answer = cm("inbox", "--limit", "5", "--json").json
        assert ([event["id"] for event in answer["events"]], answer["nextCursor"]) == (["c1", "c3"], "c3")
    paths = ["/v1/inbox?limit=5", "/v1/inbox?limit=4&cursor=c1", "/v1/inbox?limit=4&cursor=c2"]
    assert [request.path for request in server.received] == paths
    with scripted(inbox_page("c2", "c1", "c2", has_more=True)) as server:
        cm = Command(Path("/nonexistent"), server.base_url, {"CM_TOKEN": "cag_x"})
        assert cm("inbox", "--limit", "2", "--json").json["nextCursor"] == "c2"
    assert len(server.received) == 1


@pytest.mark.slow
@pytest.mark.processes
def test_whoami_shows_the_limits_of_an_agent(agent_cm: Command) -> None:
    assert agent_cm("whoami", "--json").json["limits"]["react"]["limit"] == 120
    assert "post: 30 of 30 left" in agent_cm("whoami").out


@pytest.mark.slow
@pytest.mark.processes
def test_json_may_be_asked_for_before_the_command(agent_cm: Command) -> None:
    assert agent_cm("--json", "whoami").json == agent_cm("whoami", "--json").json


@pytest.mark.slow
@pytest.mark.processes
def test_a_person_gets_an_agent(cm: Command, clients: Clients) -> None:
    handle = f"op_{token_hex(4)}"
    signed_in = cm("login", "--handle", handle, "--register", "--name", "Ada", stdin=PASSWORD + "\n")
    assert (signed_in.code, signed_in.out) == (DONE, f"Signed in as @{handle} (human) at {cm.url}.\n")
    assert cm("whoami", "--json").json["name"] == "Ada"
    words = ("--name", "An agent", "--purpose", "Takes part in a test of cm.", "--scope", "post", "--scope", "react")
    request = posted(cm, "request", "--handle", f"a_{handle}", *words)
    other = posted(cm, "request", "--handle", f"b_{handle}", *words)
    assert posted(cm, "cancel", other["id"])["status"] == "cancelled"
    assert "pending" in cm("status", request["id"]).out
    assert cm("token", "create", request["id"], "--save").code == REFUSED
    clients.ask(f"/v1/agent-tokens/requests/{request['id']}/approve", {}, **clients.super_admin().user)
    assert [found["status"] for found in cm("status", "--json").json["requests"]] == ["cancelled", "approved"]
    saved = cm("token", "create", request["id"], "--save", "--label", "laptop", "--days", "3", "--json").json
    assert "token" not in saved
    assert posted(cm, "post", new_url(), "By the agent")["author"]["handle"] == f"a_{handle}"
    assert posted(cm, "--as", "person", "post", new_url(), "By the person")["author"]["handle"] == handle
    printed = cm("token", "create", request["id"])
    assert printed.out.startswith("cag_")
    assert printed.out.strip() not in printed.err
    assert "laptop" in cm("token", "list").out
    rotated = cm("token", "rotate", posted(cm, "token", "create", request["id"])["tokenId"], "--ends", "now")
    assert rotated.out.startswith("cag_")
    assert posted(cm, "token", "revoke", saved["tokenId"], "--reason", "done") == {"revoked": True}
    assert cm("token", "revoke", saved["tokenId"]).out == "It was revoked before.\n"
    assert cm("post", new_url(), "By the agent").code == NOT_SIGNED_IN
    assert cm("logout").code == DONE
    assert cm("--as", "person", "whoami").code == NOT_SIGNED_IN


@pytest.mark.slow
@pytest.mark.processes
def test_an_agent_signs_in_with_its_token(cm: Command, clients: Clients) -> None:
    token = clients.agent_token()
    assert cm("login", stdin=token + "\n").code == DONE
    # The address is stored too.
    cm.url = None
    assert cm("whoami", "--json").json["account"]["kind"] == "agent"
    assert cm("--as", "agent", "logout", "--json").json == {"success": True}
    assert cm("whoami").code == NOT_SIGNED_IN


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.parametrize(
    ("stdin", "code"),
    [("", USAGE), ("\n", USAGE), ("no token\n", USAGE), ("cag_é\n", USAGE), ("cag_" + "x" * 46, NOT_SIGNED_IN)],
)
def test_a_token_that_is_refused_is_not_stored(cm: Command, stdin: str, code: int) -> None:
    assert cm("login", stdin=stdin).code == code
    assert cm("whoami").code == NOT_SIGNED_IN


@pytest.mark.slow
@pytest.mark.processes
def test_a_wrong_password_is_not_signed_in(cm: Command) -> None:
    finished = cm("login", "--handle", "nobody_here", "--json", stdin="a wrong password\n")
    assert (finished.code, finished.error["error"]) == (NOT_SIGNED_IN, "invalid_credentials")


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.parametrize("arguments", NEED_SIGN_IN, ids=" ".join)
def test_who_has_not_signed_in_is_told_so_before_a_call(cm: Command, arguments: tuple[str, ...]) -> None:
    cm.url = f"http://127.0.0.1:{free_port()}"
    finished = cm(*arguments, "--json")
    assert (finished.code, finished.out) == (NOT_SIGNED_IN, "")
    assert finished.error["error"] == "not_authenticated"
    assert "cm login" in cm(*arguments).err


@pytest.mark.slow
@pytest.mark.processes
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
        ("request", "--handle", "abc"),
        ("completion", "tcsh"),
        ("--url", "ftp://a.example", "read", "https://a.example"),
    ],
    ids=ascii,
)
def test_wrong_usage_has_exit_code_2(agent_cm: Command, arguments: tuple[str, ...]) -> None:
    assert agent_cm(*arguments).code == USAGE


@pytest.mark.slow
@pytest.mark.processes
def test_input_that_is_not_utf_8_is_wrong_usage(agent_cm: Command) -> None:
    assert agent_cm("post", "https://a.example", "-", stdin=b"\xff").code == USAGE


@pytest.mark.slow
@pytest.mark.processes
def test_without_an_address_the_command_says_how_to_give_one(cm: Command) -> None:
    cm.url = None
    finished = cm("read", "https://a.example")
    assert (finished.code, "CM_URL" in finished.err) == (USAGE, True)


@pytest.mark.slow
@pytest.mark.processes
def test_a_refusal_has_exit_code_1_and_says_what_is_wrong(agent_cm: Command) -> None:
    finished = agent_cm("post", new_url(), "x" * 20_001, "--json")
    assert (finished.code, finished.out, finished.error["field"]) == (REFUSED, "", "content")
    shown = agent_cm("read", "no url")
    assert (shown.code, shown.err.startswith("invalid_url: ")) == (REFUSED, True)


@pytest.mark.slow
@pytest.mark.processes
def test_a_list_without_posts_says_so_beside_the_output(agent_cm: Command) -> None:
    url = new_url()
    empty = agent_cm("read", url)
    assert (empty.code, empty.out, empty.err) == (DONE, "", "The page has no posts.\n")
    as_json = agent_cm("read", url, "--json")
    assert (as_json.json, as_json.err) == ({"messages": []}, "")
    message = posted(agent_cm, "post", url, "Hello")
    assert agent_cm("read", url, "--replies-to", message["id"]).err == "The post has no replies.\n"
    assert agent_cm("search", "xyzzy", "--page", url).err == "No post has all of these words.\n"


@pytest.mark.slow
@pytest.mark.processes
def test_a_limit_has_exit_code_4_and_its_seconds() -> None:
    limited = refusal(429, "agent_rate_limited", **{"Retry-After": "1234"})
    with scripted(limited) as server:
        cm = Command(Path("/nonexistent"), server.base_url, {"CM_TOKEN": "cag_x"})
        finished = cm("post", "p1_x", "Hello", "--json")
        assert (finished.code, finished.error["retryAfter"]) == (LIMITED, 1234)
        assert "1234 seconds" in cm("post", "p1_x", "Hello").err


@pytest.mark.slow
@pytest.mark.processes
def test_a_limit_without_seconds_is_a_refusal() -> None:
    with scripted(refusal(429, "too_many_pending_requests")) as server:
        cm = Command(Path("/nonexistent"), server.base_url, {"CM_TOKEN": "e30.e30.x"})
        assert cm("status").code == REFUSED


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.parametrize("answer", [CUT, Answer(502, b"<html></html>"), Answer(200, b"<html></html>"), Answer(301)])
def test_a_service_that_does_not_answer_has_exit_code_5(answer: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("community_messaging.cli.app.RETRY", RetryPolicy(attempts=1))
    with scripted(answer) as server:
        finished = Command(Path("/nonexistent"), server.base_url)("read", "https://a.example", "--json")
    assert (finished.code, finished.out) == (UNREACHABLE, "")
    assert finished.error["message"]


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.parametrize("answer", [CUT, Answer(500), Answer(504), Answer(201, b""), refusal(503, "away")])
def test_a_write_that_may_have_been_done_says_how_to_repeat_it(answer: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("community_messaging.cli.app.RETRY", RetryPolicy(attempts=1))
    with scripted(answer) as server:
        cm = Command(Path("/nonexistent"), server.base_url, {"CM_TOKEN": "cag_x"})
        shown = cm("post", "p1_x", "Hello")
        error = cm("delete", "m1", "--json").error
    first, second = (request.headers["idempotency-key"] for request in server.received)
    assert shown.err.endswith(f"\n  Repeat the command with: --key {first}\n")
    assert error["idempotencyKey"] == second


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.parametrize("options", [[], ["--json"]], ids=["text", "json"])
def test_a_write_that_is_interrupted_says_how_to_repeat_it(tmp_path: Path, options: list[str]) -> None:
    has_arrived, has_ended = Event(), Event()

    def unanswered(_request: Received) -> Answer:
        has_arrived.set()
        has_ended.wait(PATIENCE_SECONDS)
        return CUT

    with scripted(unanswered) as server:
        cm = Command(tmp_path, server.base_url, {"CM_TOKEN": "cag_x"})
        words = cm.words("post", "p1_x", "Hello", *options)
        with subprocess.Popen(words, env=cm.process_environment, stderr=subprocess.PIPE) as process:
            assert has_arrived.wait(PATIENCE_SECONDS)
            process.send_signal(signal.SIGINT)
            error = process.communicate(timeout=PATIENCE_SECONDS)[1].decode()
            has_ended.set()
    key = server.received[0].headers["idempotency-key"]
    assert process.returncode == REFUSED
    if options:
        assert json.loads(error.splitlines()[0])["idempotencyKey"] == key
    else:
        assert f"\n  Repeat the command with: --key {key}\n" in error


@pytest.mark.slow
@pytest.mark.processes
def test_a_refused_write_does_not_say_how_to_repeat_it() -> None:
    with scripted(refusal(422, "content_blocked")) as server:
        cm = Command(Path("/nonexistent"), server.base_url, {"CM_TOKEN": "cag_x"})
        assert cm("post", "p1_x", "Hello").err == "content_blocked: About content_blocked.\n"
        assert "idempotencyKey" not in cm("post", "p1_x", "Hello", "--key", "k1", "--json").error


@pytest.mark.slow
@pytest.mark.processes
def test_a_limit_that_no_time_lifts_does_not_say_how_to_repeat_the_write() -> None:
    words = ("request", "--handle", "abc", "--name", "A", "--purpose", "p", "--scope", "post")
    with scripted(refusal(429, "too_many_pending_requests")) as server:
        cm = Command(Path("/nonexistent"), server.base_url, {"CM_TOKEN": "e30.e30.x"})
        assert cm(*words).err == "too_many_pending_requests: About too_many_pending_requests.\n"
        assert "idempotencyKey" not in cm(*words, "--json").error


@pytest.mark.slow
@pytest.mark.processes
def test_a_limit_with_seconds_says_how_to_repeat_the_write() -> None:
    limited = refusal(429, "rate_limited", **{"Retry-After": "1234"})
    # The service refuses before it looks for the key: the first attempt may have been done.
    with scripted(CUT, limited) as server:
        cm = Command(Path("/nonexistent"), server.base_url, {"CM_TOKEN": "cag_x"})
        error = cm("delete", "m1", "--json").error
    assert {error["idempotencyKey"]} == {request.headers["idempotency-key"] for request in server.received}


@pytest.mark.slow
@pytest.mark.processes
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
        cm = Command(Path("/nonexistent"), server.base_url, {"CM_TOKEN": "cag_x"})
        assert cm("post", "p1_x", "--", text).code == REFUSED
        assert cm("post", "p1_x", "-", stdin=(text + "\n").encode()).code == REFUSED
    assert received == [text, text]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_and_takes_json(name: str) -> None:
    command = program.commands[name]
    assert command.help
    assert "--json" in {word for parameter in command.params for word in parameter.opts} or name == "token"


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_printed(cm: Command, shell: str) -> None:
    finished = cm("completion", shell)
    assert (finished.code, "_CM_COMPLETE" in finished.out) == (DONE, True)


@pytest.mark.slow
@pytest.mark.processes
def test_completion_suggests_commands(cm: Command) -> None:
    variables = {"_CM_COMPLETE": "bash_complete", "COMP_WORDS": "cm wh", "COMP_CWORD": "1"}
    finished = subprocess.run(
        cm.words(), env=cm.process_environment | variables, capture_output=True, text=True, check=False
    )
    assert finished.stdout == "plain,whoami\n"


@pytest.mark.slow
@pytest.mark.processes
def test_a_real_process_posts_and_a_pipe_reads(agent_cm: Command) -> None:
    url = new_url()
    posted = agent_cm.process("post", url, "-", "--json", stdin="Grüße 👋\n".encode())
    assert (posted.code, posted.json["content"]) == (DONE, "Grüße 👋")
    agent_cm.variables["PYTHONIOENCODING"] = "latin-1"
    shown = subprocess.run(
        agent_cm.words("read", url), env=agent_cm.process_environment, capture_output=True, check=False
    )
    assert (shown.returncode, b"Gr\xfc\xdfe \\U0001f44b" in shown.stdout) == (DONE, True)


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.parametrize(
    ("arguments", "code"), [(("whoami",), NOT_SIGNED_IN), (("post",), USAGE), (("status", "--json"), NOT_SIGNED_IN)]
)
def test_a_real_process_exits_with_the_code(cm: Command, arguments: tuple[str, ...], code: int) -> None:
    finished = cm.process(*arguments)
    assert (finished.code, finished.out, bool(finished.err)) == (code, "", True)
    assert "Traceback" not in finished.err


@pytest.mark.slow
@pytest.mark.processes
def test_following_prints_events_until_it_is_interrupted(agent_cm: Command, clients: Clients) -> None:
    message_id = posted(agent_cm, "post", new_url(), "Hello")["id"]
    cursor = agent_cm("inbox", "--json").json["nextCursor"]
    other = Command(agent_cm.home, agent_cm.url, {"CM_TOKEN": clients.agent_token()})
    reply = posted(other, "reply", message_id, "An answer")
    words = agent_cm.words("inbox", "--follow", "--after", cursor, "--json")
    with subprocess.Popen(words, env=agent_cm.process_environment, stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert json.loads(process.stdout.readline())["messageId"] == reply["id"]
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == DONE
