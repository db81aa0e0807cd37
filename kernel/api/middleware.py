"""Middlewares of every path: the request id, problem documents, bad hosts and oversized bodies, the
Content-Security-Policy.

Forms with a file: the paths of UPLOADS. Everywhere else a body has at most 1 MiB, and no file is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.module_loading import import_string

from config.derived import NO_PAGE_POLICY
from kernel.api.bodies import BODY_MAX, content_length
from kernel.api.chain import NO_OPERATION
from kernel.api.exception_handler import error_response
from kernel.api.exceptions import ApiError, InvalidInput, LengthRequired, PayloadTooLarge
from kernel.api.requests import JSON_TYPE, PROBLEM_TYPE, Response
from kernel.cache.rendering import to_json
from kernel.metrics.exposition import OPERATION
from kernel.request_ids import HEADER, serving


def takes_uploads(path: str) -> bool:
    return any(re.fullmatch(form, path) for form in settings.UPLOADS)


class UploadMiddleware:
    """Takes a file of those who may send it, and refuses other bodies over 1 MiB unread (413).

    It knows who is signed in, and comes before anything reads the body: CsrfViewMiddleware does so in `process_view`.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if takes_uploads(request.path_info):
            upload_max = _upload_max(request)
            if content_length(request.META) > BODY_MAX + upload_max:
                return error_response(PayloadTooLarge(field="body", max=BODY_MAX + upload_max))
            if upload_max:
                # The file is written to the disk while the body is read.
                request.upload_handlers = [TemporaryFileUploadHandler(request)]
        return self.get_response(request)


def _upload_max(request: HttpRequest) -> int:
    """The bytes of a file that this account may send; 0: no file."""
    for form, function in settings.UPLOADS.items():
        match = re.fullmatch(form, request.path_info)
        if match and request.user.is_authenticated:
            size: int = import_string(function)(request.user, **match.groupdict())
            return size
    return 0


ADMIN_PATH = "/admin/"
# Pages that a session cookie opens.
SESSION_PATHS = (ADMIN_PATH, "/account/")
ADMIN_POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
WRONG_HOST = "Use the address of this service: the Host header names another one (operators: see ALLOWED_HOSTS)."


class RequestIdMiddleware:
    """Sets `X-Request-ID` of the response. `kernel.cache.wsgi` does so for the responses that it serves."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        with serving(request.META) as request_id:
            response = self.get_response(request)
        response.headers[HEADER] = request_id
        return response


class ProblemMiddleware:
    """Gives a refusal the form of RFC 9457 if `Accept` names it, with the keys that refusals have otherwise."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if isinstance(response, Response) and response.error is not None and _accepts_problems(request):
            body = response.error.body()
            # The state of the request, embed or post, which RFC 9457 leaves no place for.
            state = {"state": body.pop("status")} if "status" in body else {}
            response.content = to_json({**_problem(response.error), **body, **state})
            response.headers["Content-Type"] = PROBLEM_TYPE
        return response


def _accepts_problems(request: HttpRequest) -> bool:
    accepted = {f"{each.main_type}/{each.sub_type}": each.quality for each in request.accepted_types}
    return accepted.get(PROBLEM_TYPE, 0) > 0 and accepted[PROBLEM_TYPE] >= accepted.get(JSON_TYPE, 0)


def _problem(error: ApiError) -> dict[str, Any]:
    return {
        "type": error.docs,
        "title": error.default_code.replace("_", " ").capitalize(),
        "status": error.status_code,
        "detail": error.message,
    }


class OperationNameMiddleware:
    """Notes for metrics and the access log that a request has reached a view that is no operation."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, _view: Any, _args: Any, _kwargs: Any) -> None:
        request.META[OPERATION] = NO_OPERATION


class EntryMiddleware:
    """Refuses, on every path, a host that is not in ALLOWED_HOSTS (400), a Content-Length over 1 MiB (413) and a body
    without a Content-Length (411). On the paths of UPLOADS, UploadMiddleware refuses bodies.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        try:
            # Django itself checks the host only if it redirects.
            request.get_host()
        except DisallowedHost:
            return error_response(InvalidInput(WRONG_HOST, field="Host", details=()))
        if content_length(request.META) > BODY_MAX and not takes_uploads(request.path_info):
            return error_response(PayloadTooLarge(field="body", max=BODY_MAX))
        if not request.META.get("CONTENT_LENGTH") and "HTTP_TRANSFER_ENCODING" in request.META:
            return error_response(LengthRequired())
        return self.get_response(request)


class ContentSecurityPolicyMiddleware:
    """Adds a Content-Security-Policy to every response that has none."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        policy = ADMIN_POLICY if request.path_info.startswith(ADMIN_PATH) else NO_PAGE_POLICY
        response.headers.setdefault("Content-Security-Policy", policy)
        return response
