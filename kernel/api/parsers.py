"""Checks length and media type of a body, which `kernel.api.strict_json` parses."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

from django.http import HttpRequest

from kernel.api.exceptions import BODY, InvalidInput, PayloadTooLarge, UnsupportedContentEncoding, UnsupportedMediaType
from kernel.api.operations import Operation
from kernel.api.request_bodies import content_length
from kernel.api.requests import JSON_TYPE
from kernel.api.strict_json import parse_json

# sendBeacon sends it to other origins without a preflight.
PLAIN_TEXT = "text/plain"
FORM_TYPE = "application/x-www-form-urlencoded"
PARAMETERS_MAX = 100


def parse_body(request: HttpRequest, operation: Operation) -> Any:
    """The JSON value or the form of a body, `{}` for an empty one; raises a 400, 413 or 415."""
    length = content_length(request.META)
    if not length:
        return {}
    if length > operation.body_max:
        raise PayloadTooLarge(field=BODY, max=operation.body_max)
    others = [FORM_TYPE] if operation.is_form else [PLAIN_TEXT] if operation.public_body else []
    media_type = check_media_type(request, JSON_TYPE, *others)
    parse = parse_form if media_type == FORM_TYPE else parse_json
    return parse(request.read(operation.body_max + 1))


def parse_form(raw: bytes) -> dict[str, Any]:
    """The parameters that are not empty; that of a repeated one is a list, which no field accepts."""
    try:
        sent = parse_qsl(raw.decode(), errors="strict", max_num_fields=PARAMETERS_MAX)
    except ValueError:
        raise InvalidInput("Send a form in UTF-8, percent-encoded.", field=BODY) from None
    if any("\x00" in text for pair in sent for text in pair):
        raise InvalidInput("Send no NUL character.", field=BODY)
    form: dict[str, Any] = {}
    for name, value in sent:
        form[name] = [form[name], value] if name in form else value
    return form


def check_media_type(request: HttpRequest, *allowed: str) -> str:
    """The media type of a body that is UTF-8 and not compressed, JSON (RFC 8259) without `allowed`; raises a 415."""
    allowed = allowed or (JSON_TYPE,)
    if request.META.get("HTTP_CONTENT_ENCODING", "").strip().lower() not in {"", "identity"}:
        raise UnsupportedContentEncoding
    content_type = request.META.get("CONTENT_TYPE", "").lower()
    media_type, *parameters = (part.strip() for part in content_type.split(";"))
    if media_type not in allowed:
        raise UnsupportedMediaType(allowed)
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "charset" and value.strip(' "') not in {"utf-8", "utf8", "us-ascii"}:
            raise UnsupportedMediaType(allowed)
    return str(media_type)
