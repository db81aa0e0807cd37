"""Requests that a view sends to other operations of the service, through the same middlewares as those of clients.

A gateway, an operation that maps another protocol to the API, has no rules of its own: the middlewares check the
credential, scopes, limits and keys of each subrequest.
"""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import Any
from urllib.parse import urlencode

from django.core.handlers.wsgi import WSGIRequest
from django.http.response import HttpResponseBase

from kernel.api.context import ApiHttpRequest
from kernel.api.requests import JSON_TYPE
from kernel.cache.rendering import to_json

# Who sends the request, and from where. Every other header belongs to the gateway's request.
PASSED = frozenset({"HTTP_HOST", "HTTP_AUTHORIZATION", "HTTP_X_USER_ID", "HTTP_X_FORWARDED_FOR"})


def send(
    request: ApiHttpRequest,
    method: str,
    path: str,
    *,
    query: Mapping[str, Any] | None = None,
    body: Any = None,
    key: str | None = None,
) -> HttpResponseBase:
    """The response to a request with the credential, the client address and the id of `request`.

    `path` is ASCII; `body` is sent as JSON, `key` as `Idempotency-Key`.
    """
    content = b"" if body is None else to_json(body)
    environ = {name: value for name, value in request.META.items() if name in PASSED or not name.startswith("HTTP_")}
    environ |= {
        "REQUEST_METHOD": method,
        "PATH_INFO": path,
        "QUERY_STRING": urlencode(query or {}),
        "CONTENT_TYPE": JSON_TYPE,
        "CONTENT_LENGTH": str(len(content)),
        "wsgi.input": BytesIO(content),
    }
    if key is not None:
        environ["HTTP_IDEMPOTENCY_KEY"] = key
    return request.api.respond(WSGIRequest(environ))
