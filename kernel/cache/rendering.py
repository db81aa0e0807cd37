"""The bytes of a JSON body and its ETag, the same from a view and from a loader."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import orjson

OPTIONS = orjson.OPT_UTC_Z | orjson.OPT_NAIVE_UTC


def to_json(value: Any) -> bytes:
    """Render by orjson: datetimes as RFC 3339 in UTC with `Z`, UUIDs in canonical form."""
    return orjson.dumps(value, option=OPTIONS)


def etag_of(body: bytes) -> str:
    """Return a strong ETag."""
    return f'"{blake2b(body, digest_size=16).hexdigest()}"'


def matches_etag(if_none_match: str, etag: str) -> bool:
    """Return whether an If-None-Match header contains this ETag (RFC 9110, weak comparison).

    An ETag contains no quotes but those around it, so a search finds it in a list, also with `W/` before it.
    """
    return etag in if_none_match or if_none_match.strip() == "*"
