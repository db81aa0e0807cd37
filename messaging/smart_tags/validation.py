from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any, NamedTuple

from jsonschema_rs import Draft202012Validator, ValidationError

from messaging.smart_tags.registry import SMART_TAGS

PROBLEMS_MAX = 10
MESSAGE_MAX = 200

# `mask` omits the payload's values, up to 64 KB each, from the messages.
_VALIDATORS = {
    tag_type: Draft202012Validator(tag.payload_schema, validate_formats=True, mask="The value", offline=True)
    for tag_type, tag in SMART_TAGS.items()
}


class Problem(NamedTuple):
    """An error in a payload; `pointer` is an RFC 6901 JSON pointer to it (`""`: the whole payload)."""

    pointer: str
    message: str


def validate_payload(tag_type: str, payload: Mapping[str, Any] | None) -> list[Problem]:
    """The first `PROBLEMS_MAX` problems of a payload; none if it is valid. None is validated as `{}`.

    Raises KeyError if the tag type is unknown.
    """
    errors = _VALIDATORS[tag_type].iter_errors
    try:
        return [_problem(error) for error in islice(errors({} if payload is None else payload), PROBLEMS_MAX)]
    except ValueError:
        # The validator supports at most 255 levels and only valid Unicode.
        return [Problem("", "The value is nested too deeply or is not valid text")]


def _problem(error: ValidationError) -> Problem:
    # A path contains only names from the schemas, which need no escaping in a pointer.
    pointer = "".join(f"/{step}" for step in error.instance_path)
    message = error.message
    return Problem(pointer, message if len(message) <= MESSAGE_MAX else message[: MESSAGE_MAX - 1] + "…")
