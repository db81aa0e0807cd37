"""`cm mcp` forwards lines to the MCP server and prints its answers; it adds no tools and loses no request."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from community_messaging import Credential
from community_messaging.cli.app import State
from community_messaging.cli.store import AGENT, PERSON, SERVICE, Store

from tests.client.commands import DONE, USAGE, Command
from tests.client.scripted import CUT, Answer, Received, Scripted, refusal, scripted
from tests.service import free_port

TOKEN = "cag_" + "x" * 46
INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}
CALL = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "whoami", "arguments": {}}}
NOTIFICATION = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def echo(request: Received) -> Answer:
    """Answers like a stateless MCP server: a result for a request, 202 for a notification."""
    if "id" not in request.body:
        return Answer(202)
    result: dict[str, Any] = {"echo": request.body["method"]}
    if request.body["method"] == "initialize":
        result["protocolVersion"] = "2025-06-18"
    return Answer(
        200, {"jsonrpc": "2.0", "id": request.body["id"], "result": result}, {"Content-Type": "application/json"}
    )


@pytest.fixture
def server() -> Iterator[Scripted]:
    with scripted(echo) as server:
        yield server


def bridge(server: Scripted | str, *messages: Any, token: str = TOKEN) -> list[Any]:
    """The answers to the messages; bytes are sent as they are."""
    lines = [message if isinstance(message, bytes) else json.dumps(message).encode() for message in messages]
    url = server if isinstance(server, str) else server.base_url
    finished = Command(Path("/nonexistent"), url, {"CM_TOKEN": token})("mcp", stdin=b"\n".join(lines) + b"\n")
    assert finished.code == DONE, finished
    return [json.loads(line) for line in finished.out.splitlines()]


def test_requests_are_answered_in_order_and_notifications_are_not(server: Scripted) -> None:
    answers = bridge(server, INITIALIZE, NOTIFICATION, CALL)
    assert [answer["id"] for answer in answers] == [0, 7]
    assert [request.body for request in server.received] == [INITIALIZE, NOTIFICATION, CALL]
    assert {(request.method, request.path) for request in server.received} == {("POST", "/mcp")}


def test_the_token_and_the_media_types_are_sent(server: Scripted) -> None:
    bridge(server, CALL)
    headers = server.received[0].headers
    assert headers["authorization"] == f"Bearer {TOKEN}"
    assert headers["content-type"] == "application/json"
    assert headers["accept"] == "application/json, text/event-stream"


def test_without_a_sign_in_no_token_is_sent(server: Scripted) -> None:
    bridge(server, CALL, token="")
    assert "authorization" not in server.received[0].headers


def test_headers_repeat_the_version_that_was_agreed_on_the_method_and_the_name(server: Scripted) -> None:
    bridge(server, INITIALIZE, CALL)
    first, second = (request.headers for request in server.received)
    assert "mcp-protocol-version" not in first
    assert (second["mcp-protocol-version"], second["mcp-method"], second["mcp-name"]) == (
        "2025-06-18",
        "tools/call",
        "whoami",
    )


def test_the_version_in_the_message_comes_first(server: Scripted) -> None:
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    bridge(server, INITIALIZE, CALL | {"params": {"name": "whoami", "_meta": meta}})
    assert server.received[1].headers["mcp-protocol-version"] == "2026-07-28"


@pytest.mark.parametrize("name", ["grün", "a\r\nX-Other: 1", " a"])
def test_a_name_that_no_header_can_carry_is_encoded(server: Scripted, name: str) -> None:
    bridge(server, CALL | {"params": {"name": name}})
    assert server.received[0].headers["mcp-name"].startswith("=?base64?")
    assert "x-other" not in server.received[0].headers


def test_a_line_that_is_no_json_is_a_parse_error(server: Scripted) -> None:
    for line in [b"{", b"\xff", b"[" * 100_000, b"hello"]:
        (answer,) = bridge(server, line)
        assert (answer["error"]["code"], answer["id"], server.received) == (-32700, None, []), line


def test_other_json_is_forwarded_as_it_is() -> None:
    for message in [[], [CALL], 5, "x", None, {}, {"id": 1, "method": 5, "params": []}]:
        with scripted(Answer(200, {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "?"}})) as server:
            assert len(bridge(server, message)) == 1, message
            assert server.received[0].body == message, message


def test_an_answer_without_the_id_gets_that_of_its_request() -> None:
    for status in [200, 400]:
        error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Send valid JSON."}}
        with scripted(Answer(status, error)) as server:
            assert bridge(server, CALL) == [error | {"id": 7}], status


def test_empty_lines_are_skipped(server: Scripted) -> None:
    assert bridge(server, b"", b"  ", CALL)[0]["id"] == 7
    assert len(server.received) == 1


def test_a_refusal_answers_the_request_with_the_error_of_the_service() -> None:
    with scripted(refusal(401, "token_revoked")) as server:
        (answer,) = bridge(server, CALL)
    assert (answer["id"], answer["error"]["data"]["error"]) == (7, "token_revoked")


def test_a_bridge_that_started_before_the_sign_in_uses_it(tmp_path: Path) -> None:
    def service(request: Received) -> Answer:
        if "authorization" not in request.headers:
            signed_in(tmp_path, server, Credential(TOKEN))
        return echo(request)

    with scripted(service) as server:
        stdin = json.dumps(CALL) + "\n" + json.dumps(CALL)
        assert len(Command(tmp_path, server.base_url)("mcp", stdin=stdin.encode()).out.splitlines()) == 2
    assert [request.headers.get("authorization") for request in server.received] == [None, f"Bearer {TOKEN}"]


def test_lines_are_sent_over_the_proxy_of_the_environment(server: Scripted) -> None:
    variables = {"HTTP_PROXY": server.base_url, "http_proxy": server.base_url, "NO_PROXY": "", "no_proxy": ""}
    cm = Command(Path("/nonexistent"), "http://service.example", {"CM_TOKEN": TOKEN} | variables)
    assert json.loads(cm("mcp", stdin=json.dumps(CALL).encode()).out)["id"] == 7
    assert [request.path for request in server.received] == ["http://service.example/mcp"]


def test_a_line_is_sent_when_the_service_starts_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    with scripted(echo) as server:

        def start(_seconds: float) -> None:
            monkeypatch.setattr(State, "base_url", server.base_url)

        monkeypatch.setattr("community_messaging.cli.bridge.sleep", start)
        assert bridge(f"http://127.0.0.1:{free_port()}", CALL)[0]["result"] == {"echo": "tools/call"}


def test_an_expired_user_token_is_renewed_with_the_sign_in_and_stored(tmp_path: Path) -> None:
    def service(request: Received) -> Answer:
        match request.path:
            case "/api/auth/refresh":
                return Answer(200, {"accessToken": "access 2"})
            case "/api/auth/embed-token":
                return Answer(200, {"token": "token 2", "userId": "u1"})
        return echo(request) if request.headers["authorization"] == "Bearer token 2" else refusal(401, "token_expired")

    with scripted(service) as server:
        cm = signed_in(tmp_path, server, Credential("token 1", "u1", "access 1", "refresh"))
        finished = cm("mcp", stdin=json.dumps(CALL).encode())
        stored = Store(tmp_path / SERVICE).get(server.base_url, PERSON)
    assert json.loads(finished.out)["result"] == {"echo": "tools/call"}
    assert stored == Credential("token 2", "u1", "access 2", "refresh")


def test_tokens_that_cannot_be_stored_are_renewed_again_and_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service takes each token once."""
    tokens = count(2)
    valid = ""

    def refuse(_path: Path, _target: Path) -> None:
        raise PermissionError

    def service(request: Received) -> Answer:
        nonlocal valid
        match request.path:
            case "/api/auth/refresh":
                return Answer(200, {"accessToken": "access 2"})
            case "/api/auth/embed-token":
                valid = f"token {next(tokens)}"
                return Answer(200, {"token": valid, "userId": "u1"})
        if request.headers["authorization"] != f"Bearer {valid}":
            return refusal(401, "token_expired")
        valid = ""
        return echo(request)

    with scripted(service) as server:
        cm = signed_in(tmp_path, server, Credential("token 1", "u1", "access 1", "refresh"))
        monkeypatch.setattr(Path, "replace", refuse)
        finished = cm("mcp", stdin=b"\n".join([json.dumps(CALL).encode()] * 3))
    assert finished.code == DONE
    assert [json.loads(line).get("result") for line in finished.out.splitlines()] == [{"echo": "tools/call"}] * 3
    assert finished.err.count("The renewed token is not stored: ") == len(finished.err.splitlines()) == 3


def test_a_sign_in_that_has_ended_answers_the_request_with_its_error(tmp_path: Path) -> None:
    with scripted(refusal(401, "token_expired"), refusal(401, "token_revoked")) as server:
        cm = signed_in(tmp_path, server, Credential("token 1", "u1", "access 1", "refresh"))
        answer = json.loads(cm("mcp", stdin=json.dumps(CALL).encode()).out)
    assert (answer["id"], answer["error"]["data"]["error"], len(server.received)) == (7, "token_revoked", 2)


def test_a_token_that_another_command_has_stored_since_replaces_one_that_is_refused(tmp_path: Path) -> None:
    other = Credential("cag_" + "y" * 46)

    def service(request: Received) -> Answer:
        if request.headers["authorization"] == f"Bearer {other.token}":
            return echo(request)
        Store(tmp_path / SERVICE).put(server.base_url, AGENT, other)
        return refusal(401, "token_revoked")

    with scripted(service) as server:
        cm = signed_in(tmp_path, server, Credential(TOKEN))
        assert json.loads(cm("mcp", stdin=json.dumps(CALL).encode()).out)["result"] == {"echo": "tools/call"}


def test_a_sign_in_that_is_stored_while_another_one_is_renewed_is_used_and_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Credential("token 3", "u2", "access 3", "refresh 3")
    client = State.client

    def sign_in_and_client(state: State, *kinds: str) -> Any:
        state.store.put(state.base_url, PERSON, other)
        return client(state, *kinds)

    def service(request: Received) -> Answer:
        return echo(request) if request.headers["authorization"] == "Bearer token 3" else refusal(401, "token_expired")

    monkeypatch.setattr(State, "client", sign_in_and_client)
    with scripted(service) as server:
        cm = signed_in(tmp_path, server, Credential("token 1", "u1", "access 1", "refresh"))
        finished = cm("mcp", stdin=json.dumps(CALL).encode())
    assert json.loads(finished.out)["result"] == {"echo": "tools/call"}
    assert {request.path for request in server.received} == {"/mcp"}
    assert Store(tmp_path / SERVICE).get(server.base_url, PERSON) == other


def test_a_sign_in_to_another_service_does_not_change_where_lines_are_sent(tmp_path: Path) -> None:
    def service(request: Received) -> Answer:
        Store(tmp_path / SERVICE).address = "http://other.example"
        return refusal(401, "token_revoked") if len(server.received) == 1 else echo(request)

    with scripted(service) as server:
        signed_in(tmp_path, server, Credential(TOKEN))
        Store(tmp_path / SERVICE).address = server.base_url
        stdin = json.dumps(CALL) + "\n" + json.dumps(CALL)
        answers = [json.loads(line) for line in Command(tmp_path, None)("mcp", stdin=stdin.encode()).out.splitlines()]
    assert (answers[0]["error"]["data"]["error"], answers[1]["result"]) == ("token_revoked", {"echo": "tools/call"})
    assert {request.headers["authorization"] for request in server.received} == {f"Bearer {TOKEN}"}


def signed_in(home: Path, server: Scripted, credential: Credential) -> Command:
    Store(home / SERVICE).put(server.base_url, AGENT if credential.is_agent else PERSON, credential)
    return Command(home, server.base_url)


def test_an_error_in_json_rpc_is_printed_as_it_is() -> None:
    error = {"jsonrpc": "2.0", "id": 7, "error": {"code": -32601, "message": "Method not found"}}
    with scripted(Answer(404, error)) as server:
        assert bridge(server, CALL) == [error]


def test_a_request_without_an_answer_gets_an_error_and_the_next_is_forwarded() -> None:
    for failure in [CUT, Answer(502, b"<html></html>"), Answer(200, b"<html></html>")]:
        with scripted(failure, echo) as server:
            first, second = bridge(server, CALL, CALL)
        assert (first["id"], first["error"]["code"], second["result"]) == (7, -32000, {"echo": "tools/call"}), failure


def test_a_notification_that_fails_is_not_answered() -> None:
    with scripted(CUT, echo) as server:
        (answer,) = bridge(server, NOTIFICATION, CALL)
    assert answer["id"] == 7


def test_an_error_for_a_notification_is_not_printed_as_an_answer() -> None:
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "Invalid"}}
    with scripted(Answer(400, error)) as server:
        assert bridge(server, NOTIFICATION) == []


def test_answers_as_events_are_printed_as_lines() -> None:
    events = b'data: {"jsonrpc":"2.0","method":"notifications/progress"}\n\ndata: {"jsonrpc":"2.0","id":7}\n\n'
    with scripted(Answer(200, events, {"Content-Type": "text/event-stream"})) as server:
        assert [answer.get("id") for answer in bridge(server, CALL)] == [None, 7]


def test_a_request_to_a_service_that_is_away_is_answered_with_an_error() -> None:
    (answer,) = bridge(f"http://127.0.0.1:{free_port()}", CALL)
    assert "unreachable" in answer["error"]["message"]


def test_without_an_address_the_bridge_does_not_start() -> None:
    assert Command(Path("/nonexistent"), None)("mcp").code == USAGE


@pytest.mark.slow
@pytest.mark.processes
def test_a_process_answers_each_line_at_once(server: Scripted) -> None:
    cm = Command(Path("/nonexistent"), server.base_url, {"CM_TOKEN": TOKEN})
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(cm.words("mcp"), env=cm.process_environment, **pipes) as process:
        assert process.stdin
        assert process.stdout
        for message in (INITIALIZE, CALL):
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["id"] == message["id"]
        process.stdin.close()
        assert process.wait(60) == DONE
