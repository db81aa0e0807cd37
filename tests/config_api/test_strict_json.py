"""The strict JSON parser: accepted values equal those of Python's parser, refused texts are a 400."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.api.bodies import CONTAINERS_MAX, DEPTH_MAX, parse_json
from kernel.api.exceptions import InvalidInput

CHARACTERS_MAX = 24
ACCEPTED = [
    *("0", "-0", "0.0", "-0.0", "1", "1.0", "0.1", "-0.1", "1e-7", "1E5", "1e+2", "1.5e15", "9999999999999998.0"),
    *("9223372036854775807", "-9223372036854775808", "9007199254740993", "1e-21", "0.000000000000000000001"),
    *("-1.2345678901234567e-05", "0.1000000000000000055511151231257827", "1e-400"),
]
REFUSED = [
    *("1e16", "-1e16", "10000000000000000.0", "1e22", "1e308", "-1.7976931348623157e308", "1e400", "-1e400"),
    *("9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616", "1" * 5000),
    *("5e-324", "1e-22", "2.5e-21", "-1.2345678901234567e-06", "1e-300", "123456789012345678.5"),
]


def accepted(text: str) -> bool:
    """Whether a text is accepted; a refusal names the body and is short."""
    try:
        parse_json(text.encode(errors="surrogatepass"))
    except InvalidInput as refusal:
        return not (refusal.fields["field"] == "body" and len(refusal.fields["details"][0]["message"]) < 300)
    return True


def test_a_number_is_parsed_as_by_python_and_refused_if_jsonb_would_change_it() -> None:
    parsed = {text: parse_json(f"[{text}]".encode())[0] for text in ACCEPTED}
    assert {text: (type(value), value) for text, value in parsed.items()} == {
        text: (type(json.loads(text)), json.loads(text)) for text in ACCEPTED
    }
    assert [text for text in REFUSED if accepted(f'{{"any": [{{"where": {text}}}]}}')] == []


@given(st.floats())
def test_a_float_is_accepted_if_it_has_few_digits(number: float) -> None:
    text = format(Decimal(repr(number)), "f") if math.isfinite(number) else ""
    fits = bool(text) and abs(number) < 1e16 and len(text.lstrip("-")) < CHARACTERS_MAX
    assert accepted(json.dumps([number])) == fits


@given(st.integers(-(2**70), 2**70))
def test_an_integer_is_accepted_if_it_has_64_bits(number: int) -> None:
    assert accepted(json.dumps([number])) == (-(2**63) <= number < 2**63)


@pytest.mark.parametrize(("start", "end"), [("[", "]"), ('{"a":', "}"), ('[{"":', "}]")])
def test_nesting_is_bounded(start: str, end: str) -> None:
    times = DEPTH_MAX // (start.count("[") + start.count("{"))
    assert accepted(start * times + "1" + end * times)
    assert not accepted(start * times + "[]" + end * times)
    assert not accepted(start * times + "{}" + end * times)
    assert all(not accepted(start * deep + "1" + end * deep) for deep in (times + 1, 250, 300, 1_100, 100_000))


def test_the_bound_of_arrays_and_objects_ignores_strings() -> None:
    assert accepted("[" + "[],{}," * (CONTAINERS_MAX // 2 - 1) + '"[{\\"[{"]')
    assert not accepted("[" + "[],{}," * (CONTAINERS_MAX // 2) + "1]")
    assert all(accepted(json.dumps([text])) for text in ("[" * 100_000, '"[' * 50_000, '\\"{' * 50_000))


DUPLICATE_KEYS = [
    *('{"a":1,"a":1}', '{"a":":","a":1}', r'{"a":1,"\u0061":"\u003a"}', r'{"a":"\u003A","a":"\u003a:"}'),
    *('[{"":{"":1,"b":2,"":3}}]', r'{"\\":1,"\\":2}', r'{"a":"\\u003a","a":":"}'),
]
# NUL and lone surrogates.
NO_TEXT = [r'["\u0000"]', r'["\\\u0000"]', r'{"\\\\\u0000":1}', '["\ud800"]', r'["\udc00\ud800"]']
# Texts that a lenient parser accepts.
NO_JSON = [
    *(
        '["a\x00b"]',
        '["a\x01b"]',
        '["a\nb"]',
        r'["x\udfffx"]',
        r'[{"\ud800": 1}]',
        r'[{"\u0000": 1}]',
        "[NaN]",
        "[Infinity]",
    ),
    *(
        "[-Infinity]",
        "['a']",
        "[0x10]",
        "[010]",
        "[1_0]",
        "[+1]",
        "[\uff15]",
        r'["\x41"]',
        r'["\u12"]',
        "[1,]",
        "[1] // x",
    ),
    *('{"a": 1,}', '{"a": 1} // x', "[" * 65 + "]" * 65, "[None]"),
]
NOT_UTF_8 = [b'["\xc0\xaf"]', b'["\xed\xa0\x80"]', b'["\xff\xfe"]']
# A character after an escaped backslash is text.
TEXT = [r'["\\u0000"]', r'["\\\\u0000"]', r'{"a":"\\u003a","b":":"}', r'{"\u003a":"\u003A:","::":1}']


def test_duplicate_keys_nul_and_lone_surrogates_are_refused_in_any_spelling() -> None:
    assert [text for text in [*DUPLICATE_KEYS, *NO_TEXT, *NO_JSON] if accepted(text)] == []
    for raw in NOT_UTF_8:
        with pytest.raises(InvalidInput):
            parse_json(raw)
    assert [text for text in [*TEXT, r'["\"\\"]', "[]"] if parse_json(text.encode()) != json.loads(text)] == []


PIECES = [*'{}[],:"\\', "\\\\", '\\"', r"\u003a", r"\u0000", r"\ud83d", "a", '"a":', "1", "1.5", "1e16", " ", "\ud800"]


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_texts_that_a_strict_parser_refuses_are_refused(text: str) -> None:
    assert accepted(text) == reference_accepts(text)


def reference_accepts(text: str) -> bool:
    """A slow and simple implementation of the same rules."""
    if not text.strip():
        return True
    try:
        value = json.loads(text, object_pairs_hook=unique, parse_float=short)
    except ValueError:
        return False
    return not any("\x00" in text or re.search("[\ud800-\udfff]", text) for text in strings(value))


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for inner in value if isinstance(value, (list, dict)) else ():
        yield from strings(inner)
    for inner in value.values() if isinstance(value, dict) else ():
        yield from strings(inner)


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError
    return dict(pairs)


def short(text: str) -> float:
    if abs(float(text)) >= 1e16:
        raise ValueError
    return float(text)
