"""Renews sessions, sets the cookie of known browsers, and gives allauth's functions their context in `/account/`."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from allauth.account.middleware import AccountMiddleware
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from account_area.navigation import ROOT
from account_area.sign_in.sessions import renew
from kernel.api.middleware import SESSION_PATHS
from messaging.accounts.visitors import remember, visitor_of


class SignInMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        self.allauth = AccountMiddleware(get_response)

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info.startswith(SESSION_PATHS):
            renew(request)
        response: HttpResponseBase = (self.allauth if _is_ours(request) else self.get_response)(request)
        person = getattr(request, "has_signed_in", None)
        if person is not None:
            remember(cast(HttpResponse, response), visitor_of(request), person)
        return response

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponseBase | None:
        """Lead to the page that asks for the password again, if a change needs that."""
        response: HttpResponseBase | None = None
        if _is_ours(request):
            response = self.allauth.process_exception(request, exception)
        return response


def _is_ours(request: HttpRequest) -> bool:
    return request.path_info.startswith(ROOT)
