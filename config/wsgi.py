"""The WSGI application."""

import os
from collections.abc import Iterable
from typing import Any

from django.core import cache, signals
from django.core.handlers import base
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, reset_queries
from django.http.response import HttpResponse, HttpResponseBase

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

_django = get_wsgi_application()

# What Django does around each request for the sake of what this service never does: it logs no queries, changes no
# URL configuration, and closes neither caches nor connections. The next request looks whether its connection is sound.
signals.request_started.disconnect(reset_queries)
for receiver in (cache.close_caches, base.reset_urlconf, close_old_connections):
    signals.request_finished.disconnect(receiver)


def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Django's, but a finished body goes out as a list: granian sends that in one piece and with its length."""
    response: HttpResponseBase = _django(environ, start_response)
    if not isinstance(response, HttpResponse):
        return response
    body = [response.content]
    # Granian closes iterables only; this ends the request for Django.
    response.close()
    return body
