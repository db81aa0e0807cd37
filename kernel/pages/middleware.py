"""Sessions, signed-in users and messages for the pages under `/admin/` and `/account/` alone.

Every other path ignores the session's cookie.
"""

from collections.abc import Awaitable

from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

from kernel.api.middleware import SESSION_PATHS


class SessionPathsOnly(MiddlewareMixin):
    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        if request.path_info.startswith(SESSION_PATHS):
            return super().__call__(request)
        return self.get_response(request)


class PageSessionMiddleware(SessionPathsOnly, SessionMiddleware):
    pass


class PageAuthenticationMiddleware(SessionPathsOnly, AuthenticationMiddleware):
    pass


class PageMessageMiddleware(SessionPathsOnly, MessageMiddleware):
    pass
