"""The languages of the pages: those of the widget."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest

from kernel import languages


def of_request(request: HttpRequest) -> str:
    """The language that the signed-in person chose, else the best of `Accept-Language`."""
    return getattr(request.user, "language", "") or languages.of_request(request)


def choices() -> list[tuple[str, str]]:
    """(code, name in its own language) of each language."""
    return [(code, str(name)) for code, name in settings.LANGUAGES]
