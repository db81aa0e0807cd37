"""The registry of smart tags, and the validation of payloads in createMessage."""

from time import thread_time
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from messaging.smart_tags import PROBLEMS_MAX, RATIONALE_MAX, SMART_TAGS, TagType, is_known, validate_payload
from tests.machine_speed import scaled

TYPES = ["claim", "evidence", "question", "answer", "correction"]
TYPES += ["review", "prediction", "poll", "summary", "highlight", "note"]
REQUIRED = {"correction": "original", "review": "rating", "prediction": "dueDate", "poll": "options"}

every_type = pytest.mark.parametrize("tag_type", TYPES)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def example(tag_type: str, **changed: Any) -> dict[str, Any]:
    return {**SMART_TAGS[tag_type].example, **changed}


def test_the_types_have_a_fixed_order() -> None:
    assert list(SMART_TAGS) == TYPES == [tag.value for tag in TagType]
    assert all(is_known(tag_type) for tag_type in TYPES)
    assert not any(map(is_known, ("", "Claim", "notes", "claim ")))


@every_type
def test_a_tag_has_a_title_a_sentence_and_a_closed_schema_that_its_example_uses(tag_type: str) -> None:
    """Only `note` is open."""
    tag = SMART_TAGS[tag_type]
    assert tag.type == tag_type
    assert tag.title
    assert tag.description.endswith(".")
    assert tag.description.count(".") == 1
    schema = tag.payload_schema
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema_rs.meta.validate(schema)
    assert schema["type"] == "object"
    assert schema.get("additionalProperties", True) is (tag_type == "note")
    assert validate_payload(tag_type, tag.example) == []
    assert set(schema["properties"]) - {"rationale"} <= set(tag.example)


@every_type
def test_every_tag_allows_a_rationale_up_to_its_cap(tag_type: str) -> None:
    assert validate_payload(tag_type, example(tag_type, rationale="é" * RATIONALE_MAX)) == []
    for wrong in ("é" * (RATIONALE_MAX + 1), 1, None, ["x"]):
        assert [problem.pointer for problem in validate_payload(tag_type, example(tag_type, rationale=wrong))] == [
            "/rationale"
        ]


@every_type
def test_unknown_properties_are_refused_except_in_note(tag_type: str) -> None:
    problems = validate_payload(tag_type, example(tag_type, surprise=1))
    assert len(problems) == (tag_type != "note")
    assert all("surprise" in problem.message and problem.pointer == "" for problem in problems)


@every_type
def test_a_missing_payload_is_validated_as_an_empty_object(tag_type: str) -> None:
    problems = validate_payload(tag_type, None)
    assert problems == validate_payload(tag_type, {})
    assert bool(problems) == (tag_type in REQUIRED)
    assert REQUIRED.get(tag_type, "") in " ".join(problem.message for problem in problems)


@pytest.mark.parametrize(
    ("tag_type", "field", "good", "bad"),
    [
        ("claim", "confidence", [0, 1, 0.5], [-0.1, 1.1, "1", True, None]),
        ("claim", "statement", ["x"], ["", " \n", "x" * 1_001, 1]),
        ("claim", "sources", [[], ["http://x"]], [["http://x", "http://x"], "http://x", ["x"]]),
        (
            "evidence",
            "url",
            ["http://x", "HTTPS://x/y?z#f"],
            ["ftp://x", "javascript:alert(1)", "x", "http://", "http:// x"],
        ),
        ("evidence", "stance", ["refutes"], ["", "Supports", 1]),
        ("evidence", "publishedOn", ["2024-02-29"], ["2023-02-29", "2024-2-9", "yesterday", 20240229]),
        ("review", "rating", [1, 5, 4.2], [0, 5.1, -1, "5", True, None, 10**400]),
        ("prediction", "probability", [0, 1], [-1, 2, "0.5"]),
        ("prediction", "dueDate", ["2027-12-31"], ["2027-13-01", "2027-12-31T00:00:00Z", ""]),
        (
            "poll",
            "options",
            [["a", "b"], [str(n) for n in range(20)]],
            [[], ["a"], ["a", "a"], ["a", ""], ["a", " "], [1, 2]],
        ),
        ("poll", "options", [["a", "A"]], [[str(n) for n in range(21)], ["a", "b" * 201]]),
        ("poll", "multiple", [True, False], [1, "true"]),
        ("poll", "closesAt", ["2027-01-31T12:00:00Z", "2027-01-31T12:00:00+02:00"], ["2027-01-31", "soon"]),
        ("correction", "corrected", ["x"], ["", None]),
        ("summary", "points", [["a"]], ["a", [""]]),
        ("highlight", "color", ["pink"], ["#fff"]),
    ],
)
def test_property_values_are_validated(tag_type: str, field: str, good: list[Any], bad: list[Any]) -> None:
    for value in good:
        assert validate_payload(tag_type, example(tag_type, **{field: value})) == []
    for value in bad:
        problems = validate_payload(tag_type, example(tag_type, **{field: value}))
        assert problems, value
        assert all(problem.pointer.startswith(f"/{field}") for problem in problems)


def test_problems_are_bounded_and_do_not_contain_payload_values() -> None:
    long = "secret" * 5_000
    for payload in (
        {"options": [{"a": "secret"}] * 3_000},
        {"options": [long, long]},
        {long: 1},
        {str(n): n for n in range(9_000)},
    ):
        problems = validate_payload("poll", payload)
        assert 0 < len(problems) <= PROBLEMS_MAX
        assert sum(len(problem.pointer) + len(problem.message) for problem in problems) < 5_000
    assert "secret" not in validate_payload("poll", {"options": [long, long]})[0].message


def test_the_pointer_of_a_problem_is_its_path() -> None:
    assert validate_payload("poll", {"options": ["a", 1, "b"]})[0].pointer == "/options/1"


@every_type
def test_hostile_payloads_are_refused_within_the_time_limit(tag_type: str) -> None:
    """The limit grows with a loop that is measured beside it. All of them are refused in a tenth of it."""
    deep_list: Any = []
    deep_object: Any = {}
    for _ in range(20_000):
        deep_list, deep_object = [deep_list], {"a": deep_object}
    began = thread_time()
    for hostile in (deep_list, deep_object, [[n] for n in range(9_000)], "a" * 65_000, 10**4_000):
        assert validate_payload(tag_type, dict.fromkeys(SMART_TAGS[tag_type].payload_schema["properties"], hostile))
    seconds = thread_time() - began
    assert seconds < scaled(2)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(TYPES), st.dictionaries(st.text(max_size=8), JSON, max_size=4), st.data())
def test_any_payload_is_validated_without_an_exception(
    tag_type: str, payload: dict[str, Any], data: st.DataObject
) -> None:
    names = st.sampled_from(sorted(SMART_TAGS[tag_type].payload_schema["properties"]))
    for problem in validate_payload(tag_type, payload | data.draw(st.dictionaries(names, JSON, max_size=3))):
        assert problem.message
