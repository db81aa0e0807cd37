"""The command `cm` with the running service, and as a process of its own."""

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

from tests.client.commands import DONE, NOT_SIGNED_IN, REFUSED, USAGE, Command
from tests.client.scripted import CUT, Answer, Received, scripted
from tests.clients import PASSWORD, Clients
from tests.waiting import PATIENCE_SECONDS

pytestmark = [pytest.mark.slow, pytest.mark.processes]


def new_url() -> str:
    return f"https://command.example/{token_hex(8)}"


def posted(cm: Command, *arguments: str, **options: Any) -> Any:
    finished = cm(*arguments, "--json", **options)
    assert finished.code == DONE, finished
    return finished.json


@pytest.mark.journey
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


def test_a_reaction_is_set_and_removed(agent_cm: Command) -> None:
    message_id = posted(agent_cm, "post", new_url(), "Hello")["id"]
    assert agent_cm("react", message_id, "👍").out == "added\n"
    assert agent_cm("react", message_id, "--remove", "--json").json["action"] == "removed"
    assert agent_cm("react", message_id, "--remove").out == "You have no reaction to that post.\n"


def test_a_smart_tag_takes_its_payload_as_json(agent_cm: Command) -> None:
    arguments = ("post", new_url(), "A summary", "--tag", "note", "--payload")
    assert posted(agent_cm, *arguments, '{"a": 1}')["payload"] == {"a": 1}
    assert posted(agent_cm, *arguments, "-", stdin='{"b": 2}')["payload"] == {"b": 2}


def test_the_same_key_writes_once(agent_cm: Command) -> None:
    arguments = ("post", new_url(), "Once", "--key", "k1")
    assert posted(agent_cm, *arguments)["id"] == posted(agent_cm, *arguments)["id"]


def test_search_joins_its_words(agent_cm: Command) -> None:
    url, word = new_url(), f"w{token_hex(6)}"
    posted(agent_cm, "post", url, f"some {word} here")
    assert len(agent_cm("search", "some", word, "--page", url, "--json").json["messages"]) == 1


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


def test_an_agent_without_a_cursor_reads_each_event_once(agent_cm: Command, clients: Clients) -> None:
    message_id = posted(agent_cm, "post", new_url(), "Hello")["id"]
    other = Command(agent_cm.home, agent_cm.url, {"CM_TOKEN": clients.agent_token()})
    posted(other, "reply", message_id, "An answer")
    assert [event["type"] for event in agent_cm("inbox", "--unread", "--json").json["events"]][-1] == "reply"
    assert "An answer" in agent_cm("inbox", "--unread", "--ack").out
    assert agent_cm("inbox", "--unread", "--json").json["events"] == []
    assert "An answer" in agent_cm("inbox").out


def test_own_posts_and_what_a_post_can_name_are_listed(agent_cm: Command) -> None:
    message = posted(agent_cm, "post", new_url(), "Hello")
    assert agent_cm("reply", message["id"], "Checked", "--dry-run").out == "It would be published.\n"
    assert [each["id"] for each in agent_cm("posts", "--json").json["messages"]] == [message["id"]]
    assert agent_cm("posts", "--status", "hidden").err == "You have no such posts.\n"
    for command in (("show", message["id"]), ("edit", message["id"], "Hello again")):
        assert agent_cm(*command).out.endswith(f"{message['url']}\n"), command
    assert "communities" in agent_cm("communities", "--json").json
    assert "--payload '" in agent_cm("tags").out
    assert agent_cm("show", "nothing").code == REFUSED


def test_whoami_shows_the_limits_of_an_agent(agent_cm: Command) -> None:
    assert "scopes: post, reply, quote, react" in agent_cm("whoami").out
    assert agent_cm("whoami", "--json").json["limits"]["react"]["limit"] == 120
    assert "post: 30 of 30 left" in agent_cm("whoami").out


def test_json_may_be_asked_for_before_the_command(agent_cm: Command) -> None:
    assert agent_cm("--json", "whoami").json == agent_cm("whoami", "--json").json


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
    agent_id = cm("status", request["id"], "--json").json["agent"]["id"]
    more = ("--scope", "quote", "--purpose", "Takes part in a test of cm.")
    widening = posted(cm, "widen", agent_id, *more, "--everywhere", "--key", "more")
    assert (widening["widens"], widening["everyCommunity"]) == (True, True)
    assert posted(cm, "cancel", widening["id"])["status"] == "cancelled"
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


def test_an_agent_signs_in_with_its_token(cm: Command, clients: Clients) -> None:
    token = clients.agent_token()
    assert cm("login", "--token", stdin=token + "\n").code == DONE
    # The address is stored too.
    cm.url = None
    assert cm("whoami", "--json").json["account"]["kind"] == "agent"
    assert cm("--as", "agent", "logout", "--json").json == {"success": True}
    assert cm("whoami").code == NOT_SIGNED_IN


@pytest.mark.parametrize(
    ("stdin", "code"),
    [("", USAGE), ("\n", USAGE), ("no token\n", USAGE), ("cag_é\n", USAGE), ("cag_" + "x" * 46, NOT_SIGNED_IN)],
)
def test_a_token_that_is_refused_is_not_stored(cm: Command, stdin: str, code: int) -> None:
    assert cm("login", "--token", stdin=stdin).code == code
    assert cm("whoami").code == NOT_SIGNED_IN


def test_a_wrong_password_is_not_signed_in(cm: Command) -> None:
    finished = cm("login", "--handle", "nobody_here", "--json", stdin="a wrong password\n")
    assert (finished.code, finished.error["error"]) == (NOT_SIGNED_IN, "invalid_credentials")


def test_a_refusal_has_exit_code_1_and_says_what_is_wrong(agent_cm: Command) -> None:
    finished = agent_cm("post", new_url(), "x" * 20_001, "--json")
    assert (finished.code, finished.out, finished.error["field"]) == (REFUSED, "", "content")
    shown = agent_cm("read", "no url")
    assert (shown.code, shown.err.startswith("invalid_url: ")) == (REFUSED, True)


def test_a_list_without_posts_says_so_beside_the_output(agent_cm: Command) -> None:
    url = new_url()
    empty = agent_cm("read", url)
    assert (empty.code, empty.out, empty.err) == (DONE, "", "The page has no posts.\n")
    as_json = agent_cm("read", url, "--json")
    assert (as_json.json, as_json.err) == ({"messages": []}, "")
    message = posted(agent_cm, "post", url, "Hello")
    assert agent_cm("read", url, "--replies-to", message["id"]).err == "The post has no replies.\n"
    assert agent_cm("search", "xyzzy", "--page", url).err == "No post has all of these words.\n"


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


def test_completion_suggests_commands(cm: Command) -> None:
    variables = {"_CM_COMPLETE": "bash_complete", "COMP_WORDS": "cm wh", "COMP_CWORD": "1"}
    finished = subprocess.run(
        cm.words(), env=cm.process_environment | variables, capture_output=True, text=True, check=False
    )
    assert finished.stdout == "plain,whoami\n"


def test_a_real_process_posts_and_a_pipe_reads(agent_cm: Command) -> None:
    url = new_url()
    posted = agent_cm.process("post", url, "-", "--json", stdin="Grüße 👋\n".encode())
    assert (posted.code, posted.json["content"]) == (DONE, "Grüße 👋")
    agent_cm.variables["PYTHONIOENCODING"] = "latin-1"
    shown = subprocess.run(
        agent_cm.words("read", url), env=agent_cm.process_environment, capture_output=True, check=False
    )
    assert (shown.returncode, b"Gr\xfc\xdfe \\U0001f44b" in shown.stdout) == (DONE, True)


@pytest.mark.parametrize(
    ("arguments", "code"), [(("whoami",), NOT_SIGNED_IN), (("post",), USAGE), (("status", "--json"), NOT_SIGNED_IN)]
)
def test_a_real_process_exits_with_the_code(cm: Command, arguments: tuple[str, ...], code: int) -> None:
    finished = cm.process(*arguments)
    assert (finished.code, finished.out, bool(finished.err)) == (code, "", True)
    assert "Traceback" not in finished.err


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
