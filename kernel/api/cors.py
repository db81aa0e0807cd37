"""CORS: which web pages may call an operation, according to its declaration.

- Operations that need no credential and return none (`Operation.any_origin`): pages of any origin, `*`, no
  Authorization header.
- Documents for programs (`kernel.api.public_documents`): pages of any origin.
- All other operations, sign-in included: only pages of APP_URL, where the panel runs.

No response allows cookies: the API uses none.
"""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import resolve
from django.utils.cache import patch_vary_headers

from kernel.api.context import ApiContext
from kernel.api.operations import Operation, operation_of

ANY = "*"
ANY_HEADERS = "Accept, Content-Type, If-None-Match, Last-Event-ID"
OWN_HEADERS = f"{ANY_HEADERS}, Authorization, Idempotency-Key, X-Service-Embed-Id, X-User-Id"
EXPOSED = (
    "ETag, Idempotent-Replayed, Idempotency-Payload-Mismatch, Link, Location, RateLimit, RateLimit-Policy, "
    "Retry-After, WWW-Authenticate, X-Request-ID"
)
PREFLIGHT_SECONDS = "7200"
READS = frozenset({"GET", "HEAD"})


class CorsMiddleware:
    """Responds to preflights of any path, and adds CORS headers to every response of an operation, errors included."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        method = request.META.get("HTTP_ACCESS_CONTROL_REQUEST_METHOD")
        if request.method == "OPTIONS" and method is not None and "HTTP_ORIGIN" in request.META:
            return preflight(request, method)
        response = self.get_response(request)
        context: ApiContext | None = getattr(request, "api", None)
        if context is not None and context.operation is not None:
            _allow(request, response, context.operation)
        return response


def preflight(request: HttpRequest, method: str) -> HttpResponse:
    """204, with CORS headers if the origin may call the operation; without them the browser sends no request."""
    response = HttpResponse(status=204)
    del response.headers["Content-Type"]
    patch_vary_headers(response, ("Origin", "Access-Control-Request-Method"))
    try:
        match = resolve(request.path_info)
    except Http404:
        return response
    operation = operation_of(match.func, method)
    is_document = method in READS and getattr(match.func, "any_origin", False)
    own = request.META["HTTP_ORIGIN"] == settings.APP_URL
    if not (is_document or (operation is not None and (own or operation.any_origin))):
        return response
    response.headers["Access-Control-Allow-Origin"] = settings.APP_URL if own else ANY
    response.headers["Access-Control-Allow-Methods"] = method
    response.headers["Access-Control-Allow-Headers"] = OWN_HEADERS if own else ANY_HEADERS
    response.headers["Access-Control-Max-Age"] = PREFLIGHT_SECONDS
    return response


def _allow(request: HttpRequest, response: HttpResponseBase, operation: Operation) -> None:
    if operation.any_origin:
        # The same value for all clients, so that caches need not vary by origin.
        response.headers["Access-Control-Allow-Origin"] = ANY
    elif request.META.get("HTTP_ORIGIN") == settings.APP_URL:
        response.headers["Access-Control-Allow-Origin"] = settings.APP_URL
        patch_vary_headers(response, ("Origin",))
    else:
        return
    response.headers["Access-Control-Expose-Headers"] = EXPOSED
