from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any, NamedTuple

from jsonschema_rs import Draft202012Validator, ValidationError

from messaging.smart_tags.registry import SMART_TAGS

PROBLEMS_MAX = 10
MESSAGE_MAX = 200

# `mask` keeps the payload's own values, up to 64 KB each, out of the messages.
_VALIDATORS = {
    tag_type: Draft202012Validator(tag.payload_schema, validate_formats=True, mask="The value", offline=True)
    for tag_type, tag in SMART_TAGS.items()
}


class Problem(NamedTuple):
    """What is wrong with one place of a payload; `pointer` is an RFC 6901 JSON pointer into it (`""`: all of it)."""

    pointer: str
    message: str


def validate_payload(tag_type: str, payload: Mapping[str, Any] | None) -> list[Problem]:
    """The first `PROBLEMS_MAX` problems of a payload; none if it fits its tag. No payload is checked as `{}`.

    KeyError if the tag type is unknown.
    """
    errors = _VALIDATORS[tag_type].iter_errors
    try:
        return [_problem(error) for error in islice(errors({} if payload is None else payload), PROBLEMS_MAX)]
    except ValueError:
        # The validator walks at most 255 levels and takes only text that is valid Unicode.
        return [Problem("", "The value is nested too deeply or is not valid text")]


def _problem(error: ValidationError) -> Problem:
    # Only names of the schemas' own get into a path, and they hold nothing that a pointer would escape.
    pointer = "".join(f"/{step}" for step in error.instance_path)
    message = error.message
    return Problem(pointer, message if len(message) <= MESSAGE_MAX else message[: MESSAGE_MAX - 1] + "…")
