"""Strict JSON in: what a lenient parser lets through, a database or a later renderer chokes on.

Refused with 400: NUL and lone surrogates in strings, NaN and infinities, numbers beyond 64 bits, duplicate keys,
deep nesting, anything that is not UTF-8.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from typing import IO, Any

from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.request import Request

from config.api.errors import InvalidInput, PayloadTooLarge, UnsupportedMediaType

BODY_MAX = 1_048_576
DEPTH_MAX = 64
INTEGER_BITS = 63


class StrictJSONParser(BaseParser):
    """`application/json`; an empty body counts as `{}`."""

    media_type = "application/json"

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        refuse_other_charsets(media_type or "")
        return parse_json(stream.read(BODY_MAX + 1))


class ByContentType(BaseContentNegotiation):
    """Finds the parser that a body's type names. (What goes out is JSON: nothing to negotiate.)"""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser | None:
        content_type = (request.content_type or "").partition(";")[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type == content_type), None)


class PlainTextJSONParser(StrictJSONParser):
    """JSON sent as `text/plain`, which browsers send across origins without asking first (sendBeacon)."""

    media_type = "text/plain"


def refuse_other_charsets(media_type: str) -> None:
    """JSON is UTF-8 (RFC 8259); another charset is a 415."""
    for parameter in media_type.lower().split(";")[1:]:
        name, _, value = parameter.partition("=")
        if name.strip() == "charset" and value.strip(' "') not in {"utf-8", "utf8", "us-ascii"}:
            raise UnsupportedMediaType


def parse_json(raw: bytes) -> Any:
    """The value of one JSON text; raises InvalidInput (400) or PayloadTooLarge (413)."""
    if len(raw) > BODY_MAX:
        raise PayloadTooLarge(field="body", max=BODY_MAX)
    if not raw.strip():
        return {}
    try:
        text = raw.decode("utf-8")
        _refuse_depth(text)
        value = json.loads(
            text, object_pairs_hook=_unique, parse_int=_integer, parse_float=_float, parse_constant=_constant
        )
    except (ValueError, RecursionError) as failure:
        raise InvalidInput(field="body", details=f"Not valid JSON: {str(failure)[:200]}") from None
    if "\\u" in text:
        _refuse_unstorable(value)
    return value


def _refuse_depth(text: str) -> None:
    # Counting brackets inside strings too would refuse honest text, so only the suspicious pay for the scan.
    if text.count("[") + text.count("{") <= DEPTH_MAX:
        return
    depth, in_string, escaped = 0, False, False
    for character in text:
        if in_string:
            escaped, in_string = (character == "\\" and not escaped), (character != '"' or escaped)
        elif character == '"':
            in_string = True
        elif character in "[{":
            depth += 1
            if depth > DEPTH_MAX:
                raise ValueError(f"nested deeper than {DEPTH_MAX}")
        elif character in "]}":
            depth -= 1


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("duplicate key")
    return value


def _integer(digits: str) -> int:
    if len(digits) > 20:
        raise ValueError("number beyond 64 bits")
    number = int(digits)
    if not -(2**INTEGER_BITS) <= number < 2**INTEGER_BITS:
        raise ValueError("number beyond 64 bits")
    return number


def _float(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        raise ValueError("number beyond 64 bits")
    return number


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _refuse_unstorable(value: Any) -> None:
    for text in _strings(value):
        if "\x00" in text or (not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)):
            raise InvalidInput(field="body", details="Not valid JSON: NUL or lone surrogate in a string")


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
