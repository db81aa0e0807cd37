"""The bytes of a JSON body and its ETag, the same from a view and from a loader."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import orjson
from django.utils.http import parse_etags

OPTIONS = orjson.OPT_UTC_Z | orjson.OPT_NAIVE_UTC


def to_json(value: Any) -> bytes:
    """Render by orjson: datetimes as RFC 3339 in UTC with `Z`, UUIDs in canonical form."""
    return orjson.dumps(value, option=OPTIONS)


def etag_of(body: bytes) -> str:
    """Return a strong ETag."""
    return f'"{blake2b(body, digest_size=16).hexdigest()}"'


def matches_etag(if_none_match: str, etag: str) -> bool:
    """Return whether an If-None-Match header contains this ETag (RFC 9110, weak comparison)."""
    if if_none_match == etag:
        # What almost every client sends needs no parsing.
        return True
    return not {tag.removeprefix("W/") for tag in parse_etags(if_none_match)}.isdisjoint({etag, "*"})
