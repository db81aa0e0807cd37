"""Reads the Authorization header: `request.user` becomes the account, `request.auth` the credential.

AgentTokenMiddleware checks agent tokens, ScopeMiddleware the JWTs of people. Both set the credential of the context,
and CredentialAuthentication returns it to DRF.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from kernel.api import jwt
from kernel.api.credentials import ANONYMOUS, Credential
from kernel.api.exceptions import Forbidden, InvalidToken
from kernel.api.operations import Operation

BEARER_MAX = 4096


def bearer_of(request: HttpRequest) -> str | None:
    """The bearer token of a request, or None without an Authorization header; raises InvalidToken (401)."""
    header = request.META.get("HTTP_AUTHORIZATION")
    if header is None:
        return None
    scheme, _, token = header.partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token or len(token) > BEARER_MAX or not token.isascii():
        raise InvalidToken
    return str(token)


def person_of(request: HttpRequest, operation: Operation) -> Credential:
    """The credential of a person, or ANONYMOUS; raises a 401 or UserMismatch (403)."""
    token = None if operation.ignores_people else bearer_of(request)
    return ANONYMOUS if token is None else jwt.person_credential(token, user_id=request.headers.get("X-User-Id"))


class CredentialAuthentication(BaseAuthentication):
    """(account, credential) of the request; (None, ANONYMOUS) without one."""

    def authenticate(self, request: Request) -> tuple[Any, Credential]:
        credential: Credential = request._request.api.credential  # type: ignore[attr-defined]  # of DRF's stubs
        return credential.user, credential

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class OperationPermission(BasePermission):
    """Refuses requests that ScopeMiddleware has not checked: those to an action without a declaration (403)."""

    def has_permission(self, request: Request, view: Any) -> bool:
        has_action = getattr(view, "action", "") is not None
        # Without an action for the method, DRF responds with 405.
        if has_action and not request._request.api.is_admitted:  # type: ignore[attr-defined]  # of DRF's stubs
            raise Forbidden
        return True
