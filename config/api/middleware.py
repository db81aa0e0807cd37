"""What has to be said of a request before anything reads it."""

from __future__ import annotations

from collections.abc import Callable

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from config.api.exception_handler import error_response
from config.api.exceptions import InvalidInput, LengthRequired, PayloadTooLarge
from config.api.strict_json import BODY_MAX

ADMIN_PATH = "/admin/"
ADMIN_POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
# JSON, scripts, pictures: nothing in them is to be loaded, run or framed as a page.
NO_PAGE_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


class EntryMiddleware:
    """Refuses, on every path, a host that is not ours, a body over 1 MiB by its length, and one that announces none."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        try:
            # Django itself asks only where it redirects.
            request.get_host()
        except DisallowedHost:
            return error_response(InvalidInput(field="Host", details="No host of this service; see ALLOWED_HOSTS."))
        length = request.META.get("CONTENT_LENGTH") or ""
        if length.isdecimal() and int(length) > BODY_MAX:
            return error_response(PayloadTooLarge(field="body", max=BODY_MAX))
        if not length and "HTTP_TRANSFER_ENCODING" in request.META:
            return error_response(LengthRequired(details="Send the body with a Content-Length."))
        return self.get_response(request)


class ContentSecurityPolicyMiddleware:
    """A Content-Security-Policy on every answer; the pages that need another set their own."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        policy = ADMIN_POLICY if request.path_info.startswith(ADMIN_PATH) else NO_PAGE_POLICY
        response.headers.setdefault("Content-Security-Policy", policy)
        return response
