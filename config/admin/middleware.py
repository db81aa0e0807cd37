"""Sessions, signed-in users and messages for the admin only: on other paths they would cost time without use."""

from collections.abc import Awaitable

from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

from config.api.middleware import ADMIN_PATH


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
