"""Lists the static files once per process: WhiteNoise would read hundreds of them for each client of a test."""

from __future__ import annotations

from django.conf import settings
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile

_list_files = WhiteNoiseMiddleware.add_files_from_finders
_listed: dict[tuple[str, ...], dict[str, StaticFile]] = {}


def install() -> None:
    WhiteNoiseMiddleware.add_files_from_finders = _add_listed_files


def _add_listed_files(middleware: WhiteNoiseMiddleware) -> None:
    key = (middleware.static_prefix, *map(str, settings.STATICFILES_DIRS))
    if key not in _listed:
        _list_files(middleware)
        _listed[key] = middleware.files
    middleware.files = _listed[key]
