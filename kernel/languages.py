"""The language of a page for a reader who is not signed in."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import get_supported_language_variant
from django.utils.translation.trans_real import parse_accept_lang_header


def of_request(request: HttpRequest) -> str:
    """The first language of Accept-Language that the pages have, else the default. No cookie is read."""
    for code, _weight in parse_accept_lang_header(request.headers.get("Accept-Language", "").lower()):
        if code == "*":
            break
        try:
            return get_supported_language_variant(code)
        except LookupError:
            continue
    return str(settings.LANGUAGE_CODE)
