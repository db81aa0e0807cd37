"""Every refusal says what to do, in one shape: message, requestId, docs, details, and what its case adds."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client, override_settings
from django.urls import get_resolver

from config.throttles import SOFT_THROTTLES
from kernel.api.exceptions import MESSAGE_MAX, ApiError
from kernel.api.exceptions.base import errors_by_code
from kernel.api.openapi.errors import own_codes, own_errors, possible_errors
from kernel.api.operations import all_operations
from messaging.models import AccountKind
from tests.agents.factories import agent_with_token
from tests.api import Answer, Api
from tests.factories import CommunityFactory, MessageFactory, PageFactory, PersonFactory
from tests.openapi import document

pytestmark = pytest.mark.django_db
MESSAGES, REACTIONS, REQUESTS = "/api/messages", "/v1/reactions", "/v1/agent-tokens/requests"
POINTER = re.compile(r"(/([^~/]|~0|~1)*)*|\?\w+")
KEYS = {"error", "message", "requestId", "docs", "field", "max", "details", "allowed", "needed", "status"}
KEYS |= {"error_description", "waiting_for", "interval"}
KEYS |= {"counter", "limit", "retryAfter", "rule"}


def check(answer: Answer, code: str) -> dict[str, Any]:
    """Check what all refusals have in common; return the body."""
    body: dict[str, Any] = answer.json
    assert (body["error"], body.keys() <= KEYS) == (code, True), body
    assert 10 < len(body["message"]) <= MESSAGE_MAX
    assert "{" not in body["message"]
    assert body["requestId"] == answer.headers["X-Request-ID"]
    docs = body["docs"].removeprefix("http://127.0.0.1:8000")
    assert Client().get(docs).status_code == 200, docs
    assert all(problem.keys() == {"pointer", "message"} for problem in body.get("details", ()))
    assert all(POINTER.fullmatch(problem["pointer"]) for problem in body.get("details", ()))
    if "retryAfter" in body:
        assert answer.headers["Retry-After"] == str(body["retryAfter"])
    return body


def post(**body: Any) -> Answer:
    return agent_with_token().api.post(MESSAGES, {"pageId": PageFactory().pk, "content": "x"} | body)


def as_person() -> Api:
    return Api.as_person(PersonFactory())


def without_throttle() -> Answer:
    with override_settings(SOFT_THROTTLES=dict.fromkeys(SOFT_THROTTLES, (0, 60))):
        return as_person().post(MESSAGES, {})


def over_the_hourly_limit() -> Answer:
    with override_settings(HOURLY_LIMITS={"post": 1, "reply": 1, "quote": 1, "react": 1}):
        agent, page = agent_with_token(), PageFactory().pk
        assert agent.api.post(MESSAGES, {"pageId": page, "content": "x"}).status == 201
        return agent.api.post(MESSAGES, {"pageId": page, "content": "x"})


def in_a_blocking_community() -> Answer:
    return post(communityId=str(CommunityFactory(blocked_words=["x"]).pk))


def three_requests_pending() -> Answer:
    api = as_person()
    bodies = [
        {"agentName": "Bot", "agentHandle": f"bot_{n}_{uuid4().hex[:8]}", "purpose": "p" * 20, "scopes": ["post"]}
        for n in range(4)
    ]
    return [api.post(REQUESTS, body) for body in bodies][-1]


# Of each status and of each layer, a refusal and its code.
REFUSALS: dict[str, tuple[str, Callable[[], Answer]]] = {
    "host": ("invalid_input", lambda: Api().get(MESSAGES, headers={"Host": "evil.example"})),
    "length": ("length_required", lambda: Api().send("POST", MESSAGES, headers={"Transfer-Encoding": "chunked"})),
    "body size": ("payload_too_large", lambda: Api().send("POST", MESSAGES, raw=b" " * 1_048_577)),
    "path": ("not_found", lambda: Api().get("/nowhere")),
    "method": ("method_not_allowed", lambda: Api().send("PATCH", MESSAGES)),
    "page method": ("method_not_allowed", lambda: Api().send("POST", "/docs/errors/")),
    "no credential": ("not_authenticated", lambda: Api().post(MESSAGES, {})),
    "malformed token": ("invalid_token", lambda: Api({"Authorization": "Bearer x"}).post(MESSAGES, {})),
    "unknown agent token": ("invalid_token", lambda: Api.as_agent("cag_nonsense").get("/v1/agent/self")),
    "kind of token": ("invalid_token", lambda: Api.as_signed_in(PersonFactory()).post(MESSAGES, {})),
    "no X-User-Id": ("not_authenticated", lambda: without_user_id().get(REQUESTS)),
    "route": ("agent_route_not_allowed", lambda: agent_with_token().api.get(REQUESTS)),
    "scope": ("agent_scope_missing:post", lambda: agent_with_token(scopes=["react"]).api.post(MESSAGES, {})),
    "super admin": ("super_admin_required", lambda: as_person().get(REQUESTS, all="1")),
    "soft throttle": ("rate_limited", without_throttle),
    "hourly limit": ("agent_rate_limited", over_the_hourly_limit),
    "pending requests": ("too_many_pending_requests", three_requests_pending),
    "JSON": ("invalid_input", lambda: agent_with_token().api.send("POST", MESSAGES, raw=b"{")),
    "media type": ("unsupported_media_type", lambda: as_person().send("POST", MESSAGES, raw=b"a", content_type="a/b")),
    "key": ("invalid_idempotency_key", lambda: as_person().post(MESSAGES, {}, key="é")),
    "field": ("invalid_input", lambda: post(attachments=[{"type": 1, "url": "https://a.eu"}])),
    "query": ("invalid_input", lambda: Api().get(MESSAGES, pageId=PageFactory().pk, limit="x")),
    "filter": ("invalid_input", lambda: as_person().get(REQUESTS, status="x")),
    "cursor": ("invalid_cursor", lambda: Api().get(MESSAGES, pageId=PageFactory().pk, cursor="x")),
    "cap": ("content_too_long", lambda: post(content="x" * 20_001)),
    "empty": ("empty_message", lambda: post(content=" ")),
    "payload": ("invalid_payload", lambda: post(tagType="poll", payload={"options": [1, 2]})),
    "words": ("content_blocked", in_a_blocking_community),
    "post": ("message_not_found", lambda: Api().get(f"{MESSAGES}/{uuid4()}")),
    "emoji": ("invalid_emoji", lambda: react(emoji="x")),
    "embed": ("embed_not_found", lambda: Api().get(f"/api/embeds/config/{uuid4()}")),
}


def without_user_id() -> Api:
    credentials = as_person().credentials
    return Api({"Authorization": credentials["Authorization"]})


def react(**body: Any) -> Answer:
    return agent_with_token().api.post(REACTIONS, {"messageId": str(MessageFactory().pk)} | body)


@pytest.mark.parametrize("case", REFUSALS)
def test_a_refusal_says_what_to_do(case: str) -> None:
    code, send = REFUSALS[case]
    check(send(), code)


def pointers(body: dict[str, Any]) -> list[str]:
    return [problem["pointer"] for problem in body["details"]]


def test_everything_that_is_wrong_has_a_pointer() -> None:
    attachments = [{"type": "a", "url": "https://a.eu"}, {"type": 1, "url": "ftp://a.eu"}]
    body = check(post(attachments=attachments, language=5), "invalid_input")
    assert pointers(body) == ["/attachments/1/type", "/attachments/1/url", "/language"]
    assert (body["field"], body["message"].endswith("(2 more in details)")) == ("attachments[1].type", True)
    payload = check(post(tagType="poll", payload={"options": ["a", 2]}), "invalid_payload")
    assert payload["field"] == "payload"
    assert "/payload/options/1" in pointers(payload), "pointers into a payload begin at the body"
    whole = check(agent_with_token().api.send("POST", MESSAGES, raw=b"[]"), "invalid_input")
    assert (whole["field"], pointers(whole)) == ("body", [""])
    query = check(Api().get(MESSAGES, pageId=PageFactory().pk, limit="x"), "invalid_input")
    assert (query["field"], pointers(query)) == ("limit", ["?limit"])
    header = check(Api().get(MESSAGES, headers={"Host": "evil.example"}), "invalid_input")
    assert (header["field"], "details" in header) == ("Host", False)
    assert check(Api().get(MESSAGES), "invalid_input")["message"] == "Send `pageId`: it is required."


def test_choices_are_in_allowed() -> None:
    query = check(Api().get(MESSAGES, pageId=PageFactory().pk, authorKind="robot"), "invalid_input")
    assert query["allowed"] == AccountKind.values
    assert query["message"] == "Send as `authorKind` one of: human, agent."
    tag = check(post(tagType="nonsense"), "invalid_input")
    assert "poll" in tag["allowed"]
    request = {"agentName": "Bot", "agentHandle": "bot", "purpose": "p" * 20, "scopes": ["post", "fly"]}
    scopes = check(as_person().post(REQUESTS, request), "invalid_input")
    assert (scopes["field"], scopes["allowed"]) == ("scopes[1]", ["post", "reply", "quote", "react"])
    changes = check(Api().get("/v1/changes", types="message.created,x"), "invalid_input")
    assert "message.created" in changes["allowed"]


def test_a_missing_scope_names_who_grants_it() -> None:
    page, parent = PageFactory(), MessageFactory()
    api = agent_with_token(scopes=["react", "post"]).api
    answer = api.post(
        MESSAGES, {"pageId": page.pk, "content": "x", "parentId": str(parent.pk), "quoteId": str(parent.pk)}
    )
    body = check(answer, "agent_scope_missing:quote")
    assert (body["needed"], body["allowed"]) == (["quote", "reply"], ["post", "react"])
    assert "operator" in body["message"]
    assert "super admin" in body["message"]
    challenge = answer.headers["WWW-Authenticate"]
    assert challenge.startswith('Bearer realm="community-messaging", error="insufficient_scope", ')
    assert challenge.endswith('scope="quote reply"')


def test_a_community_that_is_not_allowed_names_those_that_are() -> None:
    own, other = CommunityFactory(), CommunityFactory()
    api = agent_with_token(community_ids=[own.pk]).api
    answer = api.post(MESSAGES, {"pageId": PageFactory().pk, "content": "x", "communityId": str(other.pk)})
    assert check(answer, "agent_community_not_allowed")["allowed"] == [str(own.pk)]


def test_a_url_as_page_id_is_told_to_be_normalised_first_and_an_unknown_id_where_to_get_one() -> None:
    agent = agent_with_token().api
    for sent in ("https://example.org/a", "http://x", "www.example.org/a", "HTTPS://EXAMPLE.ORG"):
        written, read = agent.post(MESSAGES, {"pageId": sent, "content": "x"}), Api().get(MESSAGES, pageId=sent)
        for body in (check(written, "unknown_page"), check(read, "invalid_input")):
            assert body["message"].startswith("Send this URL to POST /v1/presence/normalize-url first"), sent
            assert body["field"] == "pageId"
    for sent in ("x", "p1_" + "a" * 32):
        body = check(agent.post(MESSAGES, {"pageId": sent, "content": "x"}), "unknown_page")
        assert body["message"].startswith("Get the id of the page from POST /v1/presence/normalize-url"), sent


def test_a_401_without_a_token_has_no_error_and_one_with_a_token_has() -> None:
    for api in (Api(), without_user_id()):
        assert api.get(REQUESTS).headers["WWW-Authenticate"] == 'Bearer realm="community-messaging"'
    refused = Api.as_agent("cag_nonsense").get("/v1/agent/self").headers["WWW-Authenticate"]
    assert re.fullmatch(
        r'Bearer realm="community-messaging", error="invalid_token", error_description="[ !#-\[\]-~]+"', refused
    )


def test_unknown_paths_and_missing_credentials_lead_to_the_guide() -> None:
    for answer in (Api().get("/nowhere"), Api().post(MESSAGES, {}), Api().get("/v1/agent/self")):
        assert "/llms.txt" in answer.json["message"]


def test_a_limit_is_in_the_body_as_in_the_headers() -> None:
    assert check(without_throttle(), "rate_limited").items() >= {"counter": "person", "limit": 0}.items()
    hourly = over_the_hourly_limit()
    body = check(hourly, "agent_rate_limited")
    assert (body["counter"], body["limit"]) == ("post", 1)
    assert str(body["retryAfter"]) in hourly.headers["RateLimit"]


def test_a_message_quotes_little_of_a_value_and_no_credential() -> None:
    long, token = "x" * 5_000, "cag_" + "A1b2C3d4E5" * 4 + "abc123"
    assert len(json.dumps(post(language=[long], sourceApp={"a": long}).json)) < 1_500
    for answer in (Api.as_agent(token).get("/v1/agent/self"), Api({"Authorization": f"Token {token}"}).get(REQUESTS)):
        assert token not in answer.body.decode()
        assert token not in str(dict(answer.headers))
    refused = Api().post("/api/auth/register", {"handle": "a_person", "name": "Some Person", "password": "q7!zz"})
    assert check(refused, "invalid_input")["field"] == "password"
    assert "q7!zz" not in refused.body.decode()


def test_every_code_has_its_texts_and_an_example() -> None:
    # The URL configuration imports every module with refusals.
    assert get_resolver().url_patterns
    for code, error in errors_by_code().items():
        own = vars(error)
        assert all(isinstance(own.get(name), str) and len(own[name]) > 10 for name in ("message", "cause", "remedy")), (
            code
        )
        example = error(**error.example)
        body = json.loads(json.dumps(example.body()))
        assert body.keys() <= KEYS, code
        assert len(body["message"]) < MESSAGE_MAX, code
        assert body["message"].rstrip("…").endswith("."), f"{code}: a sentence"
        assert "example" in own or "message" not in error.example, f"{code}: no message of another code"
        assert not {"requestId", "docs", "error", "message"} & example.fields.keys(), code
        assert all(value.isascii() and value.isprintable() for value in example.headers.values()), code


def test_no_two_classes_have_the_same_code() -> None:
    def subclasses(error: type[ApiError]) -> list[type[ApiError]]:
        return [error, *(below for subclass in error.__subclasses__() for below in subclasses(subclass))]

    of_the_service = [error for error in subclasses(ApiError) if not error.__module__.startswith("tests")]
    codes = [error.default_code for error in of_the_service if "default_code" in vars(error)]
    assert sorted(codes) == sorted(set(codes))


def test_the_document_has_one_component_for_all_refusals() -> None:
    described = document()
    schemas = described["components"]["schemas"]
    assert set(schemas["Error"]["properties"]) == KEYS
    known = set(schemas["Error"]["properties"]["error"]["x-extensible-enum"])
    assert known < set(errors_by_code()), "without the codes of pages and commands"
    operations = [operation for _path, _method, operation in all_operations()]
    assert known >= {error.default_code for each in operations for error in possible_errors(each)}
    assert known >= {"not_found", "method_not_allowed", "not_acceptable", "internal_error"}
    referenced = {
        response["content"]["application/json"]["schema"]["$ref"]
        for methods in described["paths"].values()
        for operation in methods.values()
        for status, response in operation["responses"].items()
        if status >= "400"
    }
    assert referenced == {"#/components/schemas/Error", "#/components/schemas/LimitError"}


def test_an_operation_lists_the_codes_that_few_have_with_their_statuses() -> None:
    statuses = {code: error.status_code for code, error in errors_by_code().items()}
    operations = [operation for _path, _method, operation in all_operations()]
    frequency = Counter(error.default_code for operation in operations for error in own_errors(operation))
    for _path, _method, operation in all_operations():
        groups = [group.split(" ", 1) for group in own_codes(operation).split("; ") if group]
        stated = {code: int(status) for status, codes in groups for code in re.findall(r"`(\w+)`", codes)}
        own = {error.default_code for error in own_errors(operation)}
        assert stated.items() <= {code: statuses[code] for code in own}.items(), operation.id
        # LimitError has the codes of 413.
        assert {code for code in own - stated.keys() if frequency[code] < 3 and statuses[code] != 413} == set()


@pytest.mark.django_db(transaction=True)
def test_a_defect_of_the_database_says_when_to_try_again() -> None:
    page = PageFactory().pk
    connection.close()
    name, connection.settings_dict["NAME"] = connection.settings_dict["NAME"], "gone"
    try:
        answer = Api().get(MESSAGES, pageId=page)
    finally:
        connection.close()
        connection.settings_dict["NAME"] = name
    assert check(answer, "temporarily_unavailable")["retryAfter"] == 2
