"""The short ways of a request of the API, whose path leads to a viewset.

`ApiMiddleware`: it passes only the middlewares of `settings.API_MIDDLEWARE` and OPERATION_MIDDLEWARE. Requests of all
other paths go on to the middlewares of pages.

`PublicReads`: a read without a credential is answered by its view alone, without Django's handler, the middlewares and
DRF. For such a read they do nothing but count it, which happens here too, and add headers, which are the same for all
responses of an operation to the same host. So the first success of an operation comes through Django, and the next
responses have its headers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from http import HTTPStatus
from typing import Any, NamedTuple, cast

from django.conf import settings
from django.core.handlers.exception import convert_exception_to_response
from django.core.handlers.wsgi import get_bytes_from_wsgi, get_path_info
from django.db import close_old_connections
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.urls import Resolver404, ResolverMatch, resolve
from django.utils.module_loading import import_string

from config.derived import NO_PAGE_POLICY
from kernel.api import throttling
from kernel.api.context import ApiContext, ApiHttpRequest
from kernel.api.exception_handler import exception_handler
from kernel.api.operations import Operation, operation_of
from kernel.api.requests import PROBLEM_TYPE
from kernel.cache.memory import Headers
from kernel.cache.wsgi import PREFIXES, Application, CapturedStart, Environ, StartResponse, variant_of
from kernel.metrics.exposition import OPERATION
from kernel.request_ids import HEADER, serving

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
Respond = Callable[[ApiHttpRequest], HttpResponseBase]
# The resolved path of a request, in its WSGI environment.
MATCH = "community_messaging.match"
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
            match = request.META.get(MATCH) or resolve(request.path_info)
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


# There is one for each operation, host of ALLOWED_HOSTS and origin.
VARIANTS_MAX = 1_000
# Headers that a view decides on, besides those that its response has already.
OF_VIEWS = {"etag", "cache-control", "content-length", "content-type", "vary", "x-request-id"}
Variant = tuple[str, ...]


class PublicRequest:
    """What the view of a public read uses of a request."""

    method = "GET"

    def __init__(self, environ: Environ) -> None:
        self.META = environ

    @cached_property
    def query_params(self) -> QueryDict:
        return QueryDict(get_bytes_from_wsgi(self.META, "QUERY_STRING", ""), encoding="utf-8")


class PublicRead(NamedTuple):
    """A request for a public read, and the operation that its path leads to."""

    environ: Environ
    match: ResolverMatch
    operation: Operation

    @classmethod
    def of(cls, environ: Environ) -> PublicRead | None:
        """None for any other request, for one with a body, for an operation with a throttle of its own, and if a
        refusal may need another form.
        """
        is_get = environ["REQUEST_METHOD"] == "GET" and environ["PATH_INFO"].startswith(PREFIXES)
        has_body = environ.get("CONTENT_LENGTH", "") not in {"", "0"} or "HTTP_TRANSFER_ENCODING" in environ
        is_other_form = PROBLEM_TYPE in environ.get("HTTP_ACCEPT", "")
        if not is_get or has_body or is_other_form or "HTTP_AUTHORIZATION" in environ:
            return None
        try:
            match = environ[MATCH] = resolve(get_path_info(environ))
        except Resolver404:
            return None
        operation = operation_of(match.func, "GET")
        if operation is None or not operation.revalidates or operation.throttle is not None:
            return None
        return cls(environ, match, operation)

    @property
    def variant(self) -> Variant:
        """What the headers of a response depend on."""
        return self.operation.id, *variant_of(self.environ)

    def response(self) -> HttpResponse | None:
        """The response of the view, or the refusal of it or of the throttle of reads; None for a defect."""
        function: Any = self.match.func
        view = function.cls(**function.initkwargs)
        view.action = function.actions["get"]
        view.request = request = cast(Any, PublicRequest(self.environ))
        view.args, view.kwargs = self.match.args, self.match.kwargs
        # Django does so at the start of a request.
        close_old_connections()
        try:
            throttling.hit_read(request)
            response = getattr(view, view.action)(request, **view.kwargs)
        except Exception as failure:  # noqa: BLE001  as DRF, which calls this handler
            return exception_handler(failure, {"view": view})
        return cast(HttpResponse, view.finalize_response(request, response))


class PublicReads:
    """Wraps the WSGI application of Django."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._headers: dict[Variant, Headers] = {}

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        read = PublicRead.of(environ)
        if read is None:
            return cast(Iterable[bytes], self._application(environ, start_response))
        headers = self._headers.get(read.variant)
        if headers is None:
            return self._learn(read, start_response)
        with serving(environ) as request_id:
            response = read.response()
        if response is None:
            # Django repeats it, and reports the defect.
            return cast(Iterable[bytes], self._application(environ, start_response))
        environ[OPERATION] = read.operation.id
        own = {name.lower() for name in response.headers}
        added = [header for header in headers if header[0].lower() not in own]
        status = f"{response.status_code} {response.reason_phrase}"
        start_response(status, [*response.headers.items(), *added, (HEADER, request_id)])
        return response

    def _learn(self, read: PublicRead, start_response: StartResponse) -> Iterable[bytes]:
        start = CapturedStart()
        response = self._application(read.environ, start)
        if response.status_code == HTTPStatus.OK:
            if len(self._headers) >= VARIANTS_MAX:
                self._headers.clear()
            self._headers[read.variant] = [header for header in start.headers if header[0].lower() not in OF_VIEWS]
        start_response(start.status, start.headers)
        return cast(Iterable[bytes], response)
