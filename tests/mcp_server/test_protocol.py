"""The protocol over HTTP: versions, credentials, refusals and hostile messages."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from django.db import OperationalError
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.models import RefusedCall
from messaging.models import Message
from tests.agents.factories import agent_with_token
from tests.api import HANDLER, Answer, Api
from tests.factories import PersonFactory
from tests.mcp_server.rpc import LEGACY_VERSIONS, META, PATH, VERSION, Mcp, message

pytestmark = pytest.mark.django_db
LIST = message("tools/list", {})
INITIALIZE = {"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


def rpc_error(answer: Answer) -> tuple[int, int]:
    """(HTTP status, JSON-RPC code)."""
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.json["jsonrpc"] == "2.0"
    assert answer.json["error"]["message"]
    return answer.status, answer.json["error"]["code"]


class TestVersions:
    def test_the_newest_is_discovered_without_a_handshake(self) -> None:
        result = Mcp().send("server/discover").json["result"]
        assert result["supportedVersions"] == [VERSION, *LEGACY_VERSIONS]
        assert result["capabilities"] == {"tools": {}}

    @pytest.mark.parametrize("version", LEGACY_VERSIONS)
    def test_three_earlier_ones_open_with_a_handshake(self, version: str) -> None:
        answer = Api().post(PATH, message("initialize", INITIALIZE | {"protocolVersion": version}))
        assert answer.json["result"]["protocolVersion"] == version
        assert answer.json["result"]["serverInfo"]["name"] == "community-messaging"
        assert "Mcp-Session-Id" not in answer.headers
        headers = {} if version == LEGACY_VERSIONS[-1] else {"MCP-Protocol-Version": version}
        initialized = Api().post(PATH, {"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=headers)
        assert (initialized.status, initialized.body) == (202, b"")
        assert Api().post(PATH, LIST, headers=headers).json["result"]["tools"]
        assert Api().post(PATH, message("ping", {}), headers=headers).json["result"] == {}

    def test_an_unknown_one_is_answered_with_those_that_are_supported(self) -> None:
        answer = Mcp().post(LIST, headers={"MCP-Protocol-Version": "2019-01-01"})
        assert rpc_error(answer) == (400, -32022)
        assert answer.json["error"]["data"]["supported"] == [VERSION, *LEGACY_VERSIONS]

    @pytest.mark.parametrize("header", ["Mcp-Method", "Mcp-Name"])
    def test_a_header_that_differs_from_the_body_is_refused(self, header: str) -> None:
        params = {"name": "read_page", "arguments": {"url": "https://a.example"}}
        assert rpc_error(Mcp().send("tools/call", params, headers={header: "other"})) == (400, -32020)


class TestHttp:
    def test_only_post_is_allowed(self) -> None:
        for method in ["GET", "PUT", "DELETE", "PATCH"]:
            for api in (Api(), agent_with_token().api):
                answer = api.send(method, PATH)
                assert (answer.status, answer.error, answer.headers["Allow"]) == (405, "method_not_allowed", "POST"), (
                    method
                )

    def test_a_bad_token_is_challenged(self) -> None:
        agent = agent_with_token()
        for value in (agent.value[:-1] + "!", "nonsense"):
            answer = Api({"Authorization": f"Bearer {value}"}).post(PATH, LIST)
            assert (answer.status, answer.error) == (401, "invalid_token")
            assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]

    def test_a_revoked_token_is_challenged(self) -> None:
        agent, other = agent_with_token(), agent_with_token()
        agent.operator.post(f"/v1/agent-tokens/{agent.token.pk}/revoke", {})
        assert other.api.post(PATH, LIST).status == 200
        answer = agent.api.post(PATH, LIST)
        assert (answer.status, answer.error) == (401, "token_revoked")

    def test_a_user_token_needs_its_user_id(self) -> None:
        person = Api.as_person(PersonFactory())
        answer = Api({"Authorization": person.credentials["Authorization"]}).post(PATH, LIST)
        assert (answer.status, answer.error) == (401, "not_authenticated")

    def test_web_pages_of_other_origins_are_refused(self) -> None:
        # The host of the service has another port or scheme here, or is a part of another name.
        own = [
            "http://testserver:8001",
            "https://testserver",
            "http://testserver.evil.example",
            "http://evil.testserver",
        ]
        others = ["https://evil.example", "null", "http://[", "http://testserver@evil.example", "testserver", ""]
        for origin in [*own, *others]:
            assert rpc_error(Mcp().post(LIST, headers={"Origin": origin})) == (403, -32600), origin

    def test_the_services_own_origin_is_accepted(self, settings: Any) -> None:
        settings.APP_URL = "https://app.example"
        settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "app.example"]
        for origin in (settings.BASE_URL, settings.APP_URL, "http://testserver"):
            assert Mcp().post(LIST, headers={"Origin": origin}).status == 200

    def test_no_other_origin_gets_cors_headers(self) -> None:
        preflight = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
        answer = Api().send("OPTIONS", PATH, headers=preflight)
        assert "Access-Control-Allow-Origin" not in answer.headers
        assert "Access-Control-Allow-Origin" not in Mcp().post(LIST).headers

    def test_another_host_is_refused(self) -> None:
        assert Mcp().post(LIST, headers={"Host": "evil.example"}).error == "invalid_input"

    def test_another_media_type_is_refused(self) -> None:
        for content_type in ["text/plain", "application/x-www-form-urlencoded", ""]:
            answer = Api().send("POST", PATH, raw=orjson.dumps(LIST), content_type=content_type)
            assert (answer.status, answer.error) == (415, "unsupported_media_type"), content_type

    def test_a_body_over_the_cap_is_refused(self) -> None:
        answer = Mcp().post(message("x" * 1_048_577, {}))
        assert (answer.status, answer.error, answer.json["field"]) == (413, "payload_too_large", "body")

    def test_reads_are_throttled(self, settings: Any) -> None:
        settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"read": (2, 60)}
        statuses = [Mcp().post(LIST, address="203.0.113.7").status for _ in range(3)]
        assert statuses == [200, 200, 429]

    def test_a_throttled_operation_is_refused_in_band(self, settings: Any) -> None:
        settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"normalize_url": (0, 60)}
        refusal = Mcp(agent_with_token().api).call("write_post", url="https://a.example", content="x").refusal
        assert (refusal["error"], refusal["retryAfter"]) == ("rate_limited", 60)

    def test_refusals_in_band_have_the_request_id(self) -> None:
        answer = Mcp().send("tools/call", {"name": "read_post", "arguments": {"id": "x"}})
        refusal = orjson.loads(answer.json["result"]["content"][0]["text"])
        assert refusal["requestId"] == answer.headers["X-Request-ID"]

    @pytest.mark.parametrize(
        ("failure", "error"),
        [
            (OperationalError("server closed the connection unexpectedly"), "temporarily_unavailable"),
            (ZeroDivisionError("a secret detail"), "internal_error"),
        ],
    )
    def test_a_failure_of_a_tool_is_refused_in_band(
        self, failure: Exception, error: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(**_arguments: Any) -> None:
            raise failure

        mcp = Mcp(agent_with_token().api)
        monkeypatch.setattr("mcp_server.tools.writing.own_reaction_id", fail)
        result = mcp.call("react", postId="0199f000-0000-7000-8000-000000000000", emoji=None)
        assert result.error == error
        assert "secret" not in result.text


class TestRefusedCalls:
    # django-mcpz rolls back what a failed tool did inside a transaction; outside of tests there is none.
    @pytest.mark.django_db(transaction=True)
    def test_are_counted_for_the_operation_that_refused(self) -> None:
        agent = agent_with_token(scopes=["post"])
        parent = "0199f000-0000-7000-8000-000000000000"
        Mcp(agent.api).call("write_post", url="https://a.example", content="x", replyTo=parent)
        (counted,) = RefusedCall.objects.values_list("operation", "code")
        assert counted == ("createMessage", "agent_scope_missing:reply")

    def test_of_the_protocol_are_counted_by_their_status(self) -> None:
        Mcp(agent_with_token().api).post([])
        assert RefusedCall.objects.values_list("operation", "code").get() == ("mcp", "400")


PARSE, INVALID = (400, -32700), (400, -32600)
HOSTILE: list[tuple[bytes, tuple[int, int]]] = [
    (b" ", PARSE),
    (b"{", PARSE),
    (b"\xff\xfe", PARSE),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": "\\u0000"}}', PARSE),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": "\\ud800"}}', PARSE),
    (b'{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "ping"}', PARSE),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": NaN}}', PARSE),
    (b'{"jsonrpc": "2.0", "id": ' + b"9" * 400 + b', "method": "ping"}', PARSE),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": ' + b'{"a":' * 5000 + b"1" + b"}" * 5001, PARSE),
    (b"[" * 100_000, PARSE),
    (b"{}", INVALID),
    (b"[]", INVALID),
    (b"null", INVALID),
    (b'"ping"', INVALID),
    (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', INVALID),
    (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', INVALID),
    (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', INVALID),
    (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', INVALID),
    (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', INVALID),
    (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', INVALID),
    (b'{"jsonrpc": "2.0", "id": 1, "method": 1}', INVALID),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}', INVALID),
    (b'{"jsonrpc": "2.0", "id": 1, "result": {}}', INVALID),
]


class TestHostileMessages:
    def test_are_errors_of_json_rpc(self) -> None:
        for raw, expected in HOSTILE:
            assert rpc_error(Api().send("POST", PATH, raw=raw)) == expected, (raw, expected)

    def test_a_parse_error_has_the_body_of_the_refusal(self) -> None:
        error = Api().send("POST", PATH, raw=b"{").json["error"]
        assert error["data"]["error"] == "invalid_input"
        assert error["data"]["requestId"]

    def test_a_value_that_is_refused_is_answered_with_the_id_of_the_request(self) -> None:
        for value in ['"a\\u0000b"', '"\\ud800"', "1e30", "NaN", "9" * 30, "[" * 40 + "]" * 40]:
            for sent_id in [7, "seven", -(2**60)]:
                head = orjson.dumps({"jsonrpc": "2.0", "id": sent_id, "method": "tools/call"})[:-1]
                raw = head + b',"params":{"name":"search","arguments":{"query":' + value.encode() + b"}}}"
                answer = Api().send("POST", PATH, raw=raw)
                assert (rpc_error(answer), answer.json["id"]) == (PARSE, sent_id), (value, sent_id)
                assert answer.json["error"]["data"]["error"] == "invalid_input", (value, id)

    def test_an_id_that_cannot_be_repeated_is_null(self) -> None:
        for sent_id in ['"\\ud800"', "9" * 30, "1.5", "true", "[]", '"\\u0000"']:
            raw = b'{"jsonrpc":"2.0","id":' + sent_id.encode() + b',"method":"ping","params":{"a":NaN}}'
            assert Api().send("POST", PATH, raw=raw).json["id"] is None, sent_id

    def test_unknown_methods(self) -> None:
        for method in ["", "resources/list", "tools", "__class__", "x" * 10_000, "\U000e0001"]:
            assert rpc_error(Mcp().post(message(method, {}))) == (200, -32601), method

    def test_an_id_is_returned_unchanged(self) -> None:
        for sent_id in [0, -1, 2**63 - 1, "", "x" * 10_000, "\u202e"]:
            assert Mcp().post(message("ping", {}, id=sent_id)).json["id"] == sent_id, sent_id

    def test_bad_parameters_of_a_call(self) -> None:
        for params in [
            {},
            {"name": None},
            {"name": 1},
            {"name": "call"},
            {"name": "x" * 1000},
            {"name": "read_page", "arguments": []},
            {"name": "read_page", "arguments": "url"},
            {"name": "read_page", "arguments": {"url": "https://a.example"}, "requestState": "forged"},
            {"name": "read_page", "arguments": {"url": "https://a.example"}, "requestState": 1},
        ]:
            assert rpc_error(Mcp().post(message("tools/call", params))) == (200, -32602), params

    def test_a_notification_runs_no_tool(self) -> None:
        call = message("tools/call", {"name": "write_post", "arguments": {"url": "https://a.example", "content": "x"}})
        del call["id"]
        assert agent_with_token().api.post(PATH, call).status == 202
        assert not Message.objects.exists()

    def test_a_cursor_of_the_list_is_refused(self) -> None:
        assert rpc_error(Mcp().post(message("tools/list", {"cursor": "x"}))) == (200, -32602)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(["read_page", "read_post", "search", "reference", "react", "write_post", "inbox", "whoami"])
FIELDS = st.sampled_from(["url", "id", "query", "topic", "postId", "emoji", "content", "cursor", "limit", "payload"])
VALUES = JSON | st.sampled_from(["https://a.example", "0199f000-0000-7000-8000-000000000000"])
quick = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


def status_of(body: bytes, credentials: dict[str, str]) -> int:
    client = Client()
    client.handler = HANDLER
    headers = {"MCP-Protocol-Version": LEGACY_VERSIONS[0], **credentials}
    response = client.generic("POST", PATH, body, content_type="application/json", headers=headers)
    if response.content:
        orjson.loads(response.content)
    return response.status_code


def dumped(value: Any) -> bytes:
    import json

    return json.dumps(value).encode()


@quick
@given(body=JSON, method=st.text(max_size=10), params=JSON)
def test_no_message_causes_a_5xx(body: Any, method: str, params: Any) -> None:
    assert status_of(dumped(body), {}) < 500
    assert status_of(dumped({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}), {}) < 500


@quick
@given(name=NAMES, arguments=st.dictionaries(FIELDS | st.text(max_size=5), VALUES, max_size=4))
def test_no_arguments_make_a_tool_fail(name: str, arguments: dict[str, Any], caplog: pytest.LogCaptureFixture) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    credentials = Api.as_person(PersonFactory()).credentials
    assert status_of(dumped(body), credentials) < 500
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def test_the_meta_of_the_newest_protocol_is_required() -> None:
    body = message("tools/list", {})
    headers = {"MCP-Protocol-Version": VERSION, "Mcp-Method": "tools/list"}
    assert rpc_error(Mcp().post(body, headers=headers)) == (400, -32602)
    assert Mcp().post(message("tools/list", {"_meta": META}), headers=headers).status == 200
