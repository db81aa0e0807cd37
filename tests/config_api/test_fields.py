"""Strict fields convert no types: a serializer with every kind of field against tables of values."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rest_framework.exceptions import ValidationError

from kernel.api.exception_handler import faults_of, json_path
from kernel.api.exceptions import ContentTooLong, OverCap, PayloadTooLarge
from kernel.api.fields import Boolean, Choice, Id, Integer, ListOf, Object, Text
from kernel.api.serializers import BodySerializer, QuerySerializer

UUID_TEXT = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
LOOKALIKES = {
    "text": [5, 5.0, True, [], {}, ["x"], "", "x" * 11],
    "code": ["abc\n", "ab", "ABC", "ａｂｃ", "abcd", " abc"],
    "number": ["5", 5.0, 1e3, True, [5], {"n": 5}, 0, -1, 10**6, 2**70],
    "flag": ["true", "false", "yes", 1, 0, "1", [], {}],
    "id": [
        UUID_TEXT.replace("-", ""),
        "{" + UUID_TEXT + "}",
        f"urn:uuid:{UUID_TEXT}",
        UUID_TEXT + "\n",
        " " + UUID_TEXT,
        UUID_TEXT[:-1],
        UUID_TEXT.replace("6", "６"),
        UUID(UUID_TEXT).int,
        [UUID_TEXT],
    ],
    "choice": ["Tea", "tea ", "", 1, ["tea"], {"tea": 1}, True],
    "thing": [[], "x", 5, True, [{}]],
    "items": [{}, "x", 5, {"0": "x"}, ["x"] * 5, [5], [None], [["x"]]],
}


class Item(BodySerializer):
    name = Text(cap=3)


class Everything(BodySerializer):
    text = Text(max_length=10, required=False)
    code = Text(pattern=re.compile(r"[a-z]{3}\Z"), required=False)
    number = Integer(min_value=1, max_value=100, required=False)
    flag = Boolean(required=False)
    id = Id(required=False)
    choice = Choice(choices=["tea", "coffee"], required=False)
    thing = Object(required=False, cap=20)
    items = ListOf(child=Text(max_length=4), required=False, max_length=4)
    rows = ListOf(child=Item(), required=False, cap=2)


class Query(QuerySerializer):
    number = Integer(min_value=1, required=False)
    flag = Boolean(required=False)


def validated(data: Any, kind: Any = Everything) -> Any:
    serializer = kind(data=data)
    serializer.is_valid(raise_exception=True)
    return serializer.validated_data


def test_a_value_of_another_type_is_refused_with_its_field() -> None:
    for field, value in [(name, value) for name, held in LOOKALIKES.items() for value in held]:
        assert (refused_in({field: value}) or "").startswith(field), f"{field}: {value!r}"


def refused_in(data: Any, kind: Any = Everything) -> str | None:
    """The path of the first fault."""
    try:
        validated(data, kind)
    except ValidationError as refusal:
        return json_path(next(faults_of(refusal.detail)).path)
    return None


def test_valid_values_are_unchanged() -> None:
    data = {
        "text": " a\tb\u200b ",
        "code": "abc",
        "number": 100,
        "flag": False,
        "id": UUID_TEXT.upper(),
        "choice": "tea",
        "thing": {"a": [1, None]},
        "items": [],
        "rows": [{"name": "abc"}],
    }
    assert validated(data) == data | {"id": UUID(UUID_TEXT)}


def test_unknown_fields_are_ignored_and_absent_ones_are_not_added() -> None:
    assert validated({"shoeSize": 44}) == {}


@pytest.mark.parametrize(
    ("data", "error", "field", "cap"),
    [
        ({"rows": [{"name": "abc"}, {"name": "abcd"}]}, ContentTooLong, "rows[1].name", 3),
        ({"rows": [{"name": "a"}] * 3}, PayloadTooLarge, "rows", 2),
        ({"thing": {"k": "x" * 20}}, PayloadTooLarge, "thing", 20),
        ({"thing": {"ключ": "значение"}}, PayloadTooLarge, "thing", 20),
    ],
)
def test_a_value_over_its_cap_is_413_with_the_path(data: Any, error: type[OverCap], field: str, cap: int) -> None:
    with pytest.raises(error) as refused:
        validated(data)
    assert refused.value.fields == {"field": field, "max": cap}


def test_a_cap_counts_code_points_before_other_checks() -> None:
    assert validated({"rows": [{"name": "👩‍🚀"}]}), "three code points, eleven bytes"
    with pytest.raises(ContentTooLong):
        validated({"rows": [{"name": "👩‍🚀!"}]})


def test_an_integer_of_a_query_is_ascii_digits() -> None:
    for text in ("5", "05", "1000000000000", "9" * 100):
        assert validated({"number": text}, Query) == {"number": int(text)}
    others = ["", " 5", "5 ", "+5", "-5", "0", "1_0", "５", "٣", "1.0", "1e1", "0x5", "5\n", "abc", "None", "9" * 5000]
    assert [text for text in others if not refused_in({"number": text}, Query)] == []


def test_a_boolean_of_a_query_has_four_spellings_in_any_case() -> None:
    spellings = {"true": True, "1": True, "false": False, "0": False, "True": True, "FALSE": False}
    assert {text: validated({"flag": text}, Query)["flag"] for text in spellings} == spellings
    others = ["yes", "on", "", "2", " true", "1\n"]
    assert [text for text in others if not refused_in({"flag": text}, Query)] == []


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=25, deadline=None)
@given(st.dictionaries(st.sampled_from([*LOOKALIKES, "rows"]), ANYTHING))
def test_a_field_returns_its_type_or_refuses(data: dict[str, Any]) -> None:
    try:
        value = validated(data)
    except (ValidationError, OverCap):
        return
    types: dict[str, type] = {"text": str, "code": str, "number": int, "flag": bool, "id": UUID, "choice": str}
    for name, kind in types.items():
        assert name not in value or type(value[name]) is kind


@given(st.uuids() | st.builds(uuid4))
def test_every_canonical_uuid_is_accepted(value: UUID) -> None:
    assert validated({"id": str(value)}) == {"id": value}
