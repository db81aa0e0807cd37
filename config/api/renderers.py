"""JSON out, by orjson: datetimes as RFC 3339 UTC with `Z`, UUIDs in canonical form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import orjson
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

JSON_TYPE = "application/json"
OPTIONS = orjson.OPT_UTC_Z | orjson.OPT_NAIVE_UTC


def to_json(value: Any) -> bytes:
    return orjson.dumps(value, option=OPTIONS)


class OrjsonRenderer(BaseRenderer):
    media_type = JSON_TYPE
    format = "json"
    charset = None

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        return b"" if data is None else to_json(data)


class AlwaysJSON(BaseContentNegotiation):
    """The service speaks JSON whatever `Accept` says: an error that a client cannot read helps nobody."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser | None:
        content_type = (request.content_type or "").partition(";")[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type == content_type), None)

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        return OrjsonRenderer(), JSON_TYPE
