"""Turns the Authorization header into a Caller, for every operation alike.

Agent tokens are looked up by the middleware of `agents`, which leaves its Caller on the request; what remains here
are the JWTs of people.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from config.api import jwt
from config.api.callers import Caller
from config.api.errors import InvalidToken

BEARER_MAX = 4096


def bearer_of(request: HttpRequest) -> str | None:
    """The bearer token that was sent, None where nothing was; raises InvalidToken (401) on any other scheme."""
    header = request.META.get("HTTP_AUTHORIZATION")
    if header is None:
        return None
    scheme, _, token = header.partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token or len(token) > BEARER_MAX or not token.isascii():
        raise InvalidToken
    return str(token)


class CallerAuthentication(BaseAuthentication):
    """(account, Caller) of this request, None for nobody."""

    def authenticate(self, request: Request) -> tuple[Any, Caller] | None:
        caller: Caller | None = getattr(request._request, "caller", None)
        if caller is None:
            token = bearer_of(request._request)
            if token is None:
                return None
            caller = jwt.caller_of(token, user_id=request.headers.get("X-User-Id"))
        return caller.account, caller

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"
