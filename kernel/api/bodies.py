"""Reads request bodies: each to its end, and JSON by a strict parser.

A request may be refused before its body is read. A proxy that is still sending the body then treats the connection as
broken, and may send the request of the next client on it: so a WSGI middleware reads every body to its end.

The parser refuses values that the database or a later renderer would fail on (400): NUL and lone surrogates in strings,
NaN and infinities, integers beyond 64 bits, numbers that a jsonb column does not return as the same double, duplicate
keys, deep nesting, bytes that are not UTF-8. orjson parses; what it accepts and this module refuses is detected by
counting bytes and by one traversal, so that the cost of a body is linear in its size for every shape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any

import orjson

from kernel.api.exceptions import BODY, InvalidInput, PayloadTooLarge

BODY_MAX = 1_048_576
DEPTH_MAX = 32
# Each costs the parser and the garbage collector much more than its two bytes. (A payload of pairs of numbers reaches
# its own cap first.)
CONTAINERS_MAX = 20_000
INTEGER_MAX = 2**63 - 1
# PostgreSQL writes numbers of a jsonb column without an exponent: from 1e16 on, as integers.
FLOAT_BOUND = 1e16
# Decimals of a number of 24 characters without an exponent: a sign, "0." and these. Any double from 1e-5 on fits.
DECIMALS_MAX = 21
TINY = 1e-5
NOT_EXACT = "a number is an integer of 64 bits, or below 1e16 and at most 24 characters long without an exponent"


def parse_json(raw: bytes) -> Any:
    """The value of one JSON text; raises InvalidInput (400) or PayloadTooLarge (413)."""
    if len(raw) > BODY_MAX:
        raise PayloadTooLarge(field=BODY, max=BODY_MAX)
    if not raw.strip():
        return {}
    # Without escaped backslashes, so that the character after a backslash is the one that it escapes.
    text = raw.replace(rb"\\", b"__") if b"\\" in raw else raw
    try:
        _check_containers(text)
        value = orjson.loads(raw)
        check_value(value)
        _check_text(text, value)
    except ValueError as failure:
        raise InvalidInput(f"Send valid JSON: {failure}.", field=BODY) from None
    return value


def _check_containers(text: bytes) -> None:
    if text.count(b"[") + text.count(b"{") <= CONTAINERS_MAX:
        return
    # Of the parts between quotes, every second one is a string.
    outside = b"".join(text.replace(rb"\"", b"__").split(b'"')[::2])
    if outside.count(b"[") + outside.count(b"{") > CONTAINERS_MAX:
        raise ValueError(f"more than {CONTAINERS_MAX} arrays and objects")


def check_value(value: Any) -> None:
    """Raises ValueError for deep nesting and for numbers that the database does not return.

    It visits the value level by level: recursion would take as long as all other work together.
    """
    level, floats = [value], set()
    for depth in range(DEPTH_MAX + 1):
        inner: list[Any] = []
        for item in level:
            kind = type(item)
            if kind is dict or kind is list:
                if depth == DEPTH_MAX:
                    raise ValueError(f"nested deeper than {DEPTH_MAX}")
                inner += item.values() if kind is dict else item
            elif kind is float:
                floats.add(item)
            elif kind is int and item > INTEGER_MAX:
                raise ValueError(NOT_EXACT)
        if not inner:
            break
        level = inner
    _check_floats(floats)


def _check_floats(numbers: set[float]) -> None:
    """This includes integers beyond 64 bits, which orjson reads as floats: they exceed the bound."""
    for number in numbers:
        size = abs(number)
        if size >= FLOAT_BOUND or (size < TINY and round(number, DECIMALS_MAX) != number):
            raise ValueError(NOT_EXACT)


def _check_text(text: bytes, value: Any) -> None:
    """Compare the colons of the text with those of its value: parsing drops a duplicate key and its colon."""
    if rb"\u0000" in text:
        raise ValueError("NUL in a string")
    colons = text.count(b":") + text.count(rb"\u003a") + text.count(rb"\u003A")
    if colons != orjson.dumps(value).count(b":"):
        raise ValueError("duplicate key")


Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


def drain_request_body(application: Application) -> Application:
    """Return the WSGI application; it reads the rest of a body of up to BODY_MAX bytes after each request."""

    @wraps(application)
    def draining(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        response = application(environ, start_response)
        if 0 < content_length(environ) <= BODY_MAX:
            environ["wsgi.input"].read()
        return response

    return draining


def content_length(environ: Mapping[str, Any]) -> int:
    """The Content-Length of a WSGI environment in bytes, 0 without a valid one."""
    length = environ.get("CONTENT_LENGTH") or ""
    return int(length) if length.isdecimal() else 0
