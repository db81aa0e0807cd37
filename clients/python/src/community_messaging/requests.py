"""A call as data: what is sent, and whether it may be sent twice."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from community_messaging.errors import ServiceError

PARAMETER = re.compile(r"\{\w+\}")
KEY_HEADER, KEY_MAX = "Idempotency-Key", 160
AFTER_UNDERSCORE = re.compile(r"_([a-z])")


class Sender(Enum):
    """Which credential is sent: that of the client, the token of its sign-in, or none."""

    CALLER = auto()
    SIGN_IN = auto()
    NOBODY = auto()


@dataclass(frozen=True, slots=True)
class Request:
    """`is_repeatable`: a second arrival changes nothing."""

    method: str
    path: str
    query: dict[str, Any] = field(default_factory=dict)
    body: dict[str, Any] | None = None
    headers: dict[str, str] = field(default_factory=dict)
    is_repeatable: bool = True
    sender: Sender = Sender.CALLER

    @property
    def key(self) -> str | None:
        """The Idempotency-Key of a write."""
        return self.headers.get(KEY_HEADER)

    def asking(self, **query: str) -> Request:
        """With further query parameters."""
        return replace(self, query=self.query | query)


def snake_post(template: str, **body: Any) -> Request:
    """A call of OAuth, whose names have underscores. A second arrival changes nothing that matters."""
    given = {name: value for name, value in body.items() if value is not None}
    return Request("POST", template, body=given, sender=Sender.NOBODY)


def get(template: str, *ids: str, **query: Any) -> Request:
    """A read. The ids fill the placeholders of the path; arguments that are None are not sent."""
    return Request("GET", _path(template, ids), query=_given(query))


def post(template: str, *, is_repeatable: bool = True, **body: Any) -> Request:
    """A call that needs no Idempotency-Key."""
    return Request("POST", template, body=_given(body) or None, is_repeatable=is_repeatable)


def write(method: str, template: str, *ids: str, key: str | None, **body: Any) -> Request:
    """A write, which is done once per Idempotency-Key. Without a key it gets one of its own."""
    headers = {KEY_HEADER: str(uuid4()) if key is None else _checked_key(key)}
    return Request(method, _path(template, ids), body=_given(body) or None, headers=headers)


def from_nobody(request: Request) -> Request:
    return replace(request, sender=Sender.NOBODY)


def with_sign_in(request: Request) -> Request:
    return replace(request, sender=Sender.SIGN_IN)


def camel(name: str) -> str:
    """The name in JSON."""
    return AFTER_UNDERSCORE.sub(lambda found: found[1].upper(), name)


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {camel(name): value for name, value in values.items() if value is not None}


def _path(template: str, ids: tuple[str, ...]) -> str:
    remaining = iter(ids)
    return PARAMETER.sub(lambda _: _segment(next(remaining)), template)


def _segment(value: str) -> str:
    """One segment of a path for any text. Dots alone would name another path."""
    try:
        if not value.strip("."):
            raise ServiceError.of_input(f"Send an id: {value!r} is none.", "id")
        return quote(value, safe="")
    except (UnicodeError, AttributeError, TypeError) as error:
        raise ServiceError.of_input(f"Send an id as a text in UTF-8: {value!r} is none.", "id") from error


def _checked_key(key: str) -> str:
    # A header has no space at its ends.
    if not (key.isascii() and key.isprintable() and 0 < len(key.strip()) == len(key) <= KEY_MAX):
        message = f"Send an Idempotency-Key of 1 to {KEY_MAX} printable ASCII characters, such as a new UUID."
        raise ServiceError.of_input(message, KEY_HEADER)
    return key
