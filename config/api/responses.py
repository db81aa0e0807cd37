"""JSON out, by orjson: datetimes as RFC 3339 UTC with `Z`, UUIDs in canonical form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from django.http import HttpResponse

JSON_TYPE = "application/json"
OPTIONS = orjson.OPT_UTC_Z | orjson.OPT_NAIVE_UTC


def to_json(value: Any) -> bytes:
    return orjson.dumps(value, option=OPTIONS)


class Response(HttpResponse):
    """An answer in JSON, rendered at once: there is no other form to choose, whatever `Accept` says."""

    def __init__(self, data: Any, *, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(to_json(data), status=status, headers=headers, content_type=JSON_TYPE)
