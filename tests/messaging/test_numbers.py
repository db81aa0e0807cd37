"""A number in a payload or context anchor is returned with equal value and type, in at most 24 characters."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from messaging.models.message import PAYLOAD_MAX
from tests.api import Answer, Api
from tests.factories import PageFactory, PersonFactory

pytestmark = pytest.mark.django_db
PATH = "/api/messages"
LENGTH_MAX = 24
# The response of a list is at most this many times as long as the requests with these numbers.
GROWTH_MAX = 5
POSTS = 5


@pytest.fixture
def person(settings: Any) -> Api:
    settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"person": (10**9, 3600)}
    return Api.as_person(PersonFactory())


@pytest.fixture
def page() -> str:
    return str(PageFactory().pk)


def body_of(page: str, value: str) -> bytes:
    return f'{{"pageId": "{page}", "tagType": "note", "payload": {value}, "contextAnchor": {value}}}'.encode()


def longest_number(body: bytes) -> int:
    """The length of the longest number in a JSON text."""
    lengths: list[int] = []
    json.loads(
        body, parse_float=lambda text: lengths.append(len(text)), parse_int=lambda text: lengths.append(len(text))
    )
    return max(lengths)


def kinds(value: Any) -> Any:
    """The value with the type of each number, because 1 equals 1.0."""
    if isinstance(value, dict):
        return {key: kinds(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [kinds(inner) for inner in value]
    return (type(value), value)


NUMBERS = (
    st.integers(-(2**64), 2**64).map(str)
    | st.floats(allow_nan=False, allow_infinity=False).map(repr)
    | st.floats(-1e-3, 1e-3).map(repr)
    | st.decimals(allow_nan=False, allow_infinity=False, places=8).map(str)
    | st.sampled_from(["-0", "-0.0", "1e-7", "1E-7", "0.1", "5e-324", "1e22", "1e15", "1e16", "1e-21", str(2**63 - 1)])
    | st.from_regex(r"-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)
)
KEYS = st.sampled_from(["1", "1.0", "1e22", "-0", "a", "1e-7"])


@hypothesis_settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(numbers=st.dictionaries(KEYS, st.lists(NUMBERS, min_size=1, max_size=3), min_size=1, max_size=4))
def test_accepted_numbers_are_returned_equal_and_short(person: Api, page: str, numbers: dict[str, list[str]]) -> None:
    sent = "{" + ", ".join(f'"{key}": [{", ".join(values)}]' for key, values in numbers.items()) + "}"
    key = f"key {hash(sent)}"
    created = person.send("POST", PATH, raw=body_of(page, sent), key=key)
    if created.status == 400:
        assert created.json["field"] == "body"
        return
    post = created.json["id"]
    for response in (
        created,
        person.get(f"{PATH}/{post}"),
        person.send("POST", PATH, raw=body_of(page, sent), key=key),
    ):
        assert_equal(response.body, json.loads(response.body), sent)
    listed = person.get(PATH, pageId=page, limit=100)
    assert_equal(listed.body, next(each for each in json.loads(listed.body)["messages"] if each["id"] == post), sent)


def assert_equal(body: bytes, record: dict[str, Any], sent: str) -> None:
    assert kinds(record["payload"]) == kinds(record["contextAnchor"]) == kinds(json.loads(sent))
    assert longest_number(body) <= LENGTH_MAX


def test_short_numbers_are_accepted_and_others_refused_with_a_reason(person: Api, page: str) -> None:
    def send(number: str) -> Answer:
        return person.send("POST", PATH, raw=body_of(page, f'{{"n": {number}}}'))

    for number in ("-0.0", "1e-7", "0.1", "1e15", str(2**63 - 1), str(-(2**63))):
        assert send(number).status == 201, number
    for number in ("5e-324", "1e22", "1e308", "1e16", str(2**63)):
        response = send(number)
        assert (response.status, response.refusal) == (400, {"error": "invalid_input", "field": "body"}), number
        assert "at most 24 characters" in response.json["message"]


@pytest.mark.parametrize(("number", "status"), [("1e308", 400), ("-1e-21", 201), ("1e15", 201)])
def test_the_length_of_a_list_is_bounded_by_that_of_the_requests(
    person: Api, page: str, number: str, status: int
) -> None:
    """Posts with payloads at the cap, full of numbers that are longer in responses."""
    count = PAYLOAD_MAX // (len(orjson.dumps(float(number))) + 1) - 10
    body = body_of(page, f'{{"n":[{",".join([number] * count)}]}}')
    assert {person.send("POST", PATH, raw=body).status for _ in range(POSTS)} == {status}
    listed = person.get(PATH, pageId=page, limit=100)
    messages = listed.json["messages"]
    assert bool(messages) == (status == 201)
    assert len(listed.body) <= max(1, len(messages)) * GROWTH_MAX * len(body)
