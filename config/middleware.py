"""What holds for the admin alone, and what holds for every answer.

Sessions, signed-in users and messages are the admin's: every other path is spared their work.
"""

from collections.abc import Awaitable, Callable

from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

ADMIN_PATH = "/admin/"
ADMIN_POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
# JSON, scripts, pictures: nothing in them is to be loaded, run or framed as a page.
NO_PAGE_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


class AdminOnly(MiddlewareMixin):
    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        if request.path_info.startswith(ADMIN_PATH):
            return super().__call__(request)
        return self.get_response(request)


class AdminSessionMiddleware(AdminOnly, SessionMiddleware):
    pass


class AdminAuthenticationMiddleware(AdminOnly, AuthenticationMiddleware):
    pass


class AdminMessageMiddleware(AdminOnly, MessageMiddleware):
    pass


class PolicyMiddleware:
    """A Content-Security-Policy on every answer; the pages that need another set their own."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        policy = ADMIN_POLICY if request.path_info.startswith(ADMIN_PATH) else NO_PAGE_POLICY
        response.headers.setdefault("Content-Security-Policy", policy)
        return response
