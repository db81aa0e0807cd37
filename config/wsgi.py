"""The WSGI application."""

import os
from collections.abc import Iterable
from typing import Any

from django.core.wsgi import get_wsgi_application
from django.http.response import HttpResponse, HttpResponseBase

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

_django = get_wsgi_application()


def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Django's, but a finished body goes out as a list: granian sends that in one piece and with its length."""
    response: HttpResponseBase = _django(environ, start_response)
    if not isinstance(response, HttpResponse):
        return response
    body = [response.content]
    # Granian closes iterables only; this ends the request for Django.
    response.close()
    return body
