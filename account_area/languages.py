"""The languages of the pages: those of the widget."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest

from embeds.widget.locales import DEFAULT_LANGUAGE as DEFAULT
from embeds.widget.locales import pick_language

# Codes of the widget's languages that Django calls by another name.
DJANGO_CODES = {"zh": "zh-hans"}


def of_request(request: HttpRequest) -> str:
    """The language that the signed-in person chose, else the best of `Accept-Language`."""
    chosen = getattr(request.user, "language", "")
    return chosen or DJANGO_CODES.get(accepted := _accepted(request), accepted)


def _accepted(request: HttpRequest) -> str:
    return pick_language(None, request.headers.get("Accept-Language", ""))


def choices() -> list[tuple[str, str]]:
    """(code, name in its own language) of each language."""
    return [(code, str(name)) for code, name in settings.LANGUAGES]


__all__ = ["DEFAULT", "choices", "of_request"]
