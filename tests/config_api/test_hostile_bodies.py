"""Bodies that a lenient parser accepts: each is a 4xx in JSON, and writes nothing. `test_body_cost` has their cost."""

from __future__ import annotations

import gzip
import json
from typing import Any
from uuid import uuid4

import orjson
import pytest
from django.apps import apps
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from kernel.api.bodies import BODY_MAX
from tests.agents.factories import agent_with_token
from tests.api import Answer, Api
from tests.factories import MessageFactory, PersonFactory

pytestmark = pytest.mark.django_db

# Values of a known field. `test_strict_json` has the other texts that the parser refuses.
VALUES = {
    "NUL": rb'"a\u0000b"',
    "raw control character": b'"a\x01b"',
    "lone surrogate": rb'"\ud800"',
    "surrogate in UTF-8": b'"\xed\xa0\x80"',
    "not UTF-8": b'"\xff\xfe"',
    "NaN": b"NaN",
    "a float beyond 64 bits": b"1e400",
    "an integer of 100,000 digits": b"9" * 100_000,
    "a float of 100,000 digits": b"9" * 100_000 + b".5e-99999",
    "100,000 nested arrays": b"[" * 100_000 + b"]" * 100_000,
    "100,000 open arrays": b"[" * 100_000,
    "100,000 nested objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "duplicate keys inside": b'{"a": 1, "a": 2}',
    "a Python literal": b"None",
}
BODIES = {
    "nothing but a bracket": b"{",
    "two documents": b'{"url": "https://a.eu"}{}',
    "duplicate keys": b'{"url": "https://a.eu", "url": "https://b.eu"}',
    "byte order mark": b'\xef\xbb\xbf{"url": "https://a.eu"}',
    "UTF-16": '{"url": "https://a.eu"}'.encode("utf-16"),
    "UTF-32": '{"url": "https://a.eu"}'.encode("utf-32"),
    "compressed": gzip.compress(b'{"url": "https://a.eu"}'),
    **{f"of another type: {body!r}": body for body in (b"[]", b'"url"', b"1", b"null", b"true", b"url=x", b"\x00")},
    "half a surrogate pair at the end": b'{"url": "\\ud83d',
}
TYPES = [
    *("application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/html", "application/xml", ""),
    *("application/json; charset=utf-16", "application/json; charset=iso-8859-1", "application/json;charset="),
    *("application/jsonx", "*/*", "json", "application/json\x00", "приложение/json"),
]
OPERATIONS = [
    ("agent", "POST", "/api/messages"),
    ("agent", "POST", "/v1/reactions"),
    ("anonymous", "POST", "/v1/presence/normalize-url"),
    ("anonymous", "POST", "/api/auth/login"),
    ("anonymous", "POST", "/api/auth/register"),
    ("anonymous", "POST", "/api/embeds/analytics/events"),
    ("person", "POST", "/v1/agent-tokens/requests"),
    ("signed in", "POST", "/api/embeds/instances"),
]


@pytest.fixture(autouse=True)
def _no_throttle(settings: Any) -> None:
    settings.SOFT_THROTTLES = dict.fromkeys(settings.SOFT_THROTTLES, (10**9, 3600))


@pytest.fixture
def callers() -> dict[str, Api]:
    person = PersonFactory()
    return {
        "anonymous": Api(),
        "agent": agent_with_token(requester=person).api,
        "person": Api.as_person(person),
        "signed in": Api.as_signed_in(person),
    }


def everything_written() -> dict[str, int]:
    """The number of rows of every table except the counts of denied calls."""
    models = [model for model in apps.get_models() if model.__name__ != "RefusedCall"]
    return {model._meta.label: model._default_manager.count() for model in models}


def refused(response: Answer) -> bool:
    return (
        response.status in {400, 413}
        and response.headers["Content-Type"] == "application/json"
        and isinstance(response.error, str)
    )


def test_a_hostile_body_is_4xx_and_writes_nothing(callers: dict[str, Api]) -> None:
    bodies = BODIES | {name: b'{"content": ' + value + b', "pageId": "x"}' for name, value in VALUES.items()}
    before = everything_written()
    for who, method, path in OPERATIONS:
        for name, body in bodies.items():
            response = callers[who].send(method, path, raw=body, key="a key")
            assert refused(response), f"{path}, {name}: {response.status} {response.body[:200]!r}"
    assert everything_written() == before


def test_a_body_of_another_type_is_415(callers: dict[str, Api]) -> None:
    before = everything_written()
    for who, method, path in OPERATIONS:
        for content_type in TYPES:
            response = callers[who].send(method, path, raw=b'{"url": "https://a.eu"}', content_type=content_type)
            assert (response.status, response.error) == (415, "unsupported_media_type"), f"{path} as {content_type!r}"
    assert everything_written() == before


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", 'APPLICATION/JSON;Charset="UTF-8"'])
def test_a_charset_of_utf_8_has_several_spellings(content_type: str) -> None:
    response = Api().send(
        "POST", "/v1/presence/normalize-url", raw=b'{"url": "https://a.eu"}', content_type=content_type
    )
    assert response.status == 200


def test_a_body_over_the_cap_is_413(callers: dict[str, Api]) -> None:
    before = everything_written()
    for who, method, path in OPERATIONS:
        body = b'{"url": "' + b"x" * (BODY_MAX - 10) + b'"}'
        response = callers[who].send(method, path, raw=body)
        assert (response.status, response.refusal) == (
            413,
            {"error": "payload_too_large", "field": "body", "max": BODY_MAX},
        )
    assert everything_written() == before


def test_a_body_of_exactly_the_cap_is_accepted() -> None:
    body = b'{"url": "https://a.eu"}'
    response = Api().send("POST", "/v1/presence/normalize-url", raw=body + b" " * (BODY_MAX - len(body)))
    assert response.status == 200


def test_depth_does_not_count_brackets_in_strings(callers: dict[str, Api]) -> None:
    post = MessageFactory()
    for text in ("[" * 500, '"[' * 300, "\\[" * 300, "{[" * 300 + '\\"'):
        response = callers["agent"].post("/api/messages", {"pageId": post.page_id, "content": text})
        assert (response.status, response.json.get("content")) == (201, text)


def test_an_empty_body_is_an_empty_object(callers: dict[str, Api]) -> None:
    for body in (b"", b"  \r\n\t "):
        response = Api().send("POST", "/v1/presence/normalize-url", raw=body)
        assert (response.status, response.json["field"]) == (400, "url")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(st.characters(), max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
FIELDS = [
    *("pageId", "content", "communityId", "parentId", "quoteId", "tagType", "payload", "anchorText", "contextAnchor"),
    *("attachments", "language", "sourceApp", "messageId", "emoji", "toggle", "url", "handle", "password", "name"),
    *("serviceId", "event", "pageUrl", "agentName", "agentHandle", "purpose", "website", "scopes", "communityIds"),
    *("domainWhitelist", "pageRules", "triggerConfig", "description", "blockedWords"),
]
PLAUSIBLE = st.sampled_from(["note", "review", "post", "react", "👍", "https://a.eu/x", "a_handle", "a long password"])
effort = hypothesis_settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@pytest.fixture
def body_start() -> dict[str, Any]:
    """Values that pass the first checks of a body."""
    post = MessageFactory()
    return {"pageId": post.page_id, "messageId": str(post.pk), "content": "Hello", "serviceId": str(uuid4())}


@effort
@given(operation=st.sampled_from(OPERATIONS), body=st.binary(max_size=200))
def test_no_bytes_cause_a_5xx(callers: dict[str, Api], operation: tuple[str, str, str], body: bytes) -> None:
    who, method, path = operation
    assert callers[who].send(method, path, raw=body, key="a key").status < 500


@effort
@given(
    operation=st.sampled_from(OPERATIONS), fields=st.dictionaries(st.sampled_from(FIELDS), PLAUSIBLE | JSON, max_size=6)
)
def test_no_json_causes_a_5xx(
    callers: dict[str, Api], body_start: dict[str, Any], operation: tuple[str, str, str], fields: dict[str, Any]
) -> None:
    who, method, path = operation
    # Python's JSON has NaN, lone surrogates and long integers.
    body = json.dumps(body_start | fields).encode()
    assert callers[who].send(method, path, raw=body).status < 500


def test_some_generated_bodies_reach_the_services(callers: dict[str, Api], body_start: dict[str, Any]) -> None:
    assert callers["agent"].send("POST", "/api/messages", raw=orjson.dumps(body_start)).status == 201
