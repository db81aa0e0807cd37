"""The short way of a request of the API: only the middlewares of `settings.API_MIDDLEWARE` and OPERATION_MIDDLEWARE.

A path that leads to a viewset is one of the API. Requests of all other paths go on to the middlewares of pages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

from django.conf import settings
from django.core.handlers.exception import convert_exception_to_response
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import Resolver404, resolve
from django.utils.module_loading import import_string

from kernel.api.context import ApiContext, ApiHttpRequest
from kernel.metrics.exposition import OPERATION

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
Respond = Callable[[ApiHttpRequest], HttpResponseBase]
# For JSON, scripts and images: a browser must not render them as a page.
NO_PAGE_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
# What metrics call a view that is no operation.
NO_OPERATION = "page"


class ApiMiddleware:
    """Serves the requests of the API; the others go on."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        # A defect becomes a 500 here, so that the outer middlewares add their headers to it.
        self.respond = convert_exception_to_response(_chained(settings.OPERATION_MIDDLEWARE, _call_view))
        self.respond_outside = _chained(settings.API_MIDDLEWARE, self.respond)

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not self._is_of_api(request):
            return self.get_response(request)
        response: HttpResponseBase = self.respond_outside(cast(ApiHttpRequest, request))
        response.headers["X-Frame-Options"] = settings.X_FRAME_OPTIONS
        response.headers.setdefault("Content-Security-Policy", NO_PAGE_POLICY)
        return response

    def respond_to_subrequest(self, request: HttpRequest) -> HttpResponseBase:
        """The response to a request that an operation sends to another one (`kernel.api.subrequests`)."""
        if not self._is_of_api(request):
            raise Resolver404({"path": request.path_info})
        return cast(HttpResponseBase, self.respond(request))

    def _is_of_api(self, request: HttpRequest) -> bool:
        """Whether the path leads to a viewset; makes the context of the request if so."""
        try:
            match = resolve(request.path_info)
        except Resolver404:
            return False
        if not hasattr(match.func, "actions"):
            return False
        api = ApiContext(request, match, self.respond_to_subrequest)
        request.resolver_match, cast(ApiHttpRequest, request).api = match, api
        request.META[OPERATION] = NO_OPERATION if api.operation is None else api.operation.id
        return True


def _chained(paths: Iterable[str], respond: Any) -> Any:
    """The middlewares around `respond`, the first one outermost."""
    for path in reversed(list(paths)):
        respond = import_string(path)(respond)
    return respond


def _call_view(request: ApiHttpRequest) -> HttpResponseBase:
    match = request.api.match
    response: HttpResponseBase = match.func(request, *match.args, **match.kwargs)
    return response
