"""Which bodies are read, and how: JSON in UTF-8, parsed by `config.api.strict_json`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import IO, Any

from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.request import Request

from config.api.errors import UnsupportedMediaType
from config.api.strict_json import BODY_MAX, parse_json


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
