"""Identifiers: UUIDv7 (RFC 9562), so that ids sort by creation time."""

from __future__ import annotations

import re
from uuid import UUID

from uuid_utils.compat import uuid7

from kernel.api.exceptions import ApiError

CANONICAL = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")


def new_id() -> UUID:
    return uuid7()


def is_id(text: object) -> bool:
    """Whether `text` is a uuid in its canonical 36 character form (braces, URNs and bare hex are refused)."""
    return isinstance(text, str) and CANONICAL.match(text) is not None


def parse_id(text: str, *, missing: type[ApiError]) -> UUID:
    """The id in a path segment; raises `missing` (a 404 or 400) for any other text."""
    if not is_id(text):
        raise missing
    return UUID(text)
