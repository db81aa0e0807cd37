"""`cm mcp`: lets an MCP client that starts a program use the MCP server of the service. It has no tools of its own."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from time import sleep
from typing import Any

import click
import httpx
from httpx_sse import EventSource

from community_messaging.cli.app import State, program
from community_messaging.cli.output import clean, echo_json
from community_messaging.cli.store import AGENT, PERSON
from community_messaging.errors import ServiceError, object_in

PARSE_ERROR, NO_ANSWER = -32700, -32000
VERSION_IN_META = "io.modelcontextprotocol/protocolVersion"
TIMEOUT_SECONDS = 60.0
# The pauses before connecting again. That is harmless: nothing has been sent.
RECONNECT_SECONDS = (0.0, 0.5, 1.0)
UNAUTHORIZED = 401
# The first may return to the stored token, which is older than the one in use if that could not be stored.
RENEWALS = 2


@program.command()
@click.pass_obj
def mcp(state: State) -> None:
    """Forward JSON-RPC lines from standard input to the service's MCP server, and print its answers."""
    # Also after a sign-in to another service.
    state.url = state.base_url
    with httpx.Client(timeout=TIMEOUT_SECONDS) as http:
        bridge = Bridge(http, state)
        for line in sys.stdin.buffer:
            for answer in bridge.answers(line):
                echo_json(answer)


class Bridge:
    """One client's conversation, which may last for days. `_version` is what `initialize` has agreed on."""

    def __init__(self, http: httpx.Client, state: State) -> None:
        self._http = http
        self._state = state
        self._credential = state.caller(AGENT, PERSON)
        self._version = ""

    def answers(self, line: bytes) -> Iterator[Any]:
        """The messages that answer one line; none for a notification."""
        if not line.strip():
            return
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            yield _failure(None, PARSE_ERROR, "The line is not JSON.")
            return
        try:
            response = self._post(line, message)
            for _ in range(RENEWALS):
                if response.status_code == UNAUTHORIZED and self._renew():
                    response = self._post(line, message)
            if not response.is_success and ("jsonrpc" not in object_in(response) or _is_notification(message)):
                raise ServiceError.of_response(response)
            for answer in _messages(response):
                self._learn(answer)
                yield _with_id(answer, message)
        except httpx.RequestError as error:
            yield from _refused(message, ServiceError.of_failure(error))
        except ServiceError as error:
            yield from _refused(message, error)

    def _post(self, line: bytes, message: Any) -> httpx.Response:
        # Without a credential, a refusal is the result of a tool, not a 401: there may be a sign-in since.
        self._credential = self._credential or self._state.caller(AGENT, PERSON)
        for seconds in RECONNECT_SECONDS:
            with suppress(httpx.ConnectError):
                return self._send(line, message)
            sleep(seconds)
        return self._send(line, message)

    def _send(self, line: bytes, message: Any) -> httpx.Response:
        return self._http.post(f"{self._state.base_url}/mcp", content=line.strip(), headers=self._headers(message))

    def _renew(self) -> bool:
        """Replace a credential that is refused: by what another `cm` has stored since, else with the sign-in."""
        refused = self._credential
        with self._state.client(AGENT, PERSON) as client:
            if client.credential == refused and refused and refused.refresh_token:
                client.run(client.renew(refused.refresh_token))
            self._credential = client.credential
        return self._credential != refused

    def _headers(self, message: Any) -> dict[str, str]:
        """The credential, and the headers that repeat parts of the body, for proxies."""
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        headers |= self._credential.headers if self._credential else {}
        version, method, name = self._version, None, None
        if isinstance(message, dict):
            method = message.get("method")
            parameters = message.get("params")
            if isinstance(parameters, dict):
                name = parameters.get("name") or parameters.get("uri")
                meta = parameters.get("_meta")
                version = (isinstance(meta, dict) and meta.get(VERSION_IN_META)) or version
        found = {"MCP-Protocol-Version": version, "Mcp-Method": method, "Mcp-Name": name}
        return headers | {key: _header(value) for key, value in found.items() if value and isinstance(value, str)}

    def _learn(self, answer: Any) -> None:
        result = answer.get("result") if isinstance(answer, dict) else None
        if isinstance(result, dict) and isinstance(version := result.get("protocolVersion"), str):
            self._version = version


def _is_notification(message: Any) -> bool:
    return isinstance(message, dict) and "method" in message and "id" not in message


def _with_id(answer: Any, message: Any) -> Any:
    """The answer with the id of its request: a server that could not read the request answers with null."""
    is_lost = isinstance(answer, dict) and answer.get("id", "") is None and isinstance(message, dict)
    return answer | {"id": message.get("id")} if is_lost else answer


def _messages(response: httpx.Response) -> Iterator[Any]:
    """The messages in a success: none, one as JSON, or several as events."""
    if not response.content:
        return
    try:
        if response.headers.get("Content-Type", "").startswith("text/event-stream"):
            yield from (json.loads(event.data) for event in EventSource(response).iter_sse() if event.data)
        else:
            yield response.json()
    except (ValueError, RecursionError) as error:
        raise ServiceError("invalid_response", "The answer is not JSON: is this the address of the service?") from error


def _refused(message: Any, error: ServiceError) -> Iterator[Any]:
    """A request gets an answer, so that its client does not wait for it. A notification gets none."""
    if isinstance(message, dict) and "id" in message:
        yield _failure(message["id"], NO_ANSWER, f"{error.code}: {error.message}", error.body)
    else:
        click.echo(clean(str(error), lines=False), err=True)


def _failure(request_id: Any, code: int, message: str, data: dict[str, Any] | None = None) -> dict[str, Any]:
    error = {"code": code, "message": message} | ({"data": data} if data else {})
    return {"jsonrpc": "2.0", "id": request_id, "error": error}


def _header(value: str) -> str:
    """The text as it is where a header may have it, else encoded as the protocol says."""
    if value.isascii() and value.isprintable() and value == value.strip():
        return value
    return f"=?base64?{base64.b64encode(value.encode(errors='replace')).decode()}?="
