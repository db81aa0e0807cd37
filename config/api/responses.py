"""JSON out, by orjson: datetimes as RFC 3339 UTC with `Z`, UUIDs in canonical form."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import orjson
from django.http import HttpResponse

from config.api.freshness import Recipe, Watched

JSON_TYPE = "application/json"
OPTIONS = orjson.OPT_UTC_Z | orjson.OPT_NAIVE_UTC


def to_json(value: Any) -> bytes:
    return orjson.dumps(value, option=OPTIONS)


def etag_of(body: bytes) -> str:
    """A strong one."""
    return f'"{blake2b(body, digest_size=16).hexdigest()}"'


class Response(HttpResponse):
    """An answer in JSON, rendered at once: there is no other form to choose, whatever `Accept` says."""

    watched: Watched | None = None
    recipe: Recipe | None = None

    def __init__(self, data: Any, *, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(to_json(data), status=status, headers=headers, content_type=JSON_TYPE)
