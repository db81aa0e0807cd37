"""Checks length and media type of a body, which `kernel.api.strict_json` parses."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from kernel.api.exceptions import BODY, PayloadTooLarge, UnsupportedContentEncoding, UnsupportedMediaType
from kernel.api.operations import Operation
from kernel.api.request_bodies import content_length
from kernel.api.requests import JSON_TYPE
from kernel.api.strict_json import parse_json

# sendBeacon sends it to other origins without a preflight.
PLAIN_TEXT = "text/plain"


def parse_body(request: HttpRequest, operation: Operation) -> Any:
    """The JSON value of a body, `{}` for an empty one; raises a 400, 413 or 415."""
    length = content_length(request.META)
    if not length:
        return {}
    if length > operation.body_max:
        raise PayloadTooLarge(field=BODY, max=operation.body_max)
    check_media_type(request, is_public=operation.public_body)
    return parse_json(request.read(operation.body_max + 1))


def check_media_type(request: HttpRequest, *, is_public: bool = False) -> None:
    """JSON is UTF-8 (RFC 8259) and not compressed; anything else is a 415. A public body may be sent as plain text."""
    if request.META.get("HTTP_CONTENT_ENCODING", "").strip().lower() not in {"", "identity"}:
        raise UnsupportedContentEncoding
    content_type = request.META.get("CONTENT_TYPE", "").lower()
    media_type, *parameters = (part.strip() for part in content_type.split(";"))
    allowed = [JSON_TYPE, *([PLAIN_TEXT] if is_public else [])]
    if media_type not in allowed:
        raise UnsupportedMediaType(allowed)
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "charset" and value.strip(' "') not in {"utf-8", "utf8", "us-ascii"}:
            raise UnsupportedMediaType(allowed)
