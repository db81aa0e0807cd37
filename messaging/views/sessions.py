from __future__ import annotations

from typing import Any

from django.conf import settings
from rest_framework.decorators import action

from kernel.api import jwt
from kernel.api.credentials import CredentialKind
from kernel.api.operations import operation
from kernel.api.requests import ApiRequest
from kernel.api.responses import Response
from kernel.api.viewsets import ApiViewSet
from messaging.exceptions import (
    AccountBeingErased,
    HandleTaken,
    InvalidCredentials,
    InvalidSecondFactor,
    RegistrationClosed,
    SecondFactorRequired,
)
from messaging.models import Account
from messaging.serializers import sessions as serializers
from messaging.serializers.accounts import AccountSerializer
from messaging.services import sessions
from messaging.services.accounts import account_record, authenticate, register_person
from messaging.services.moderators import moderates_any
from messaging.views.sign_in_log import log_after
from messaging.visitors import remember, visitor_of

PUBLIC = {CredentialKind.PUBLIC}
SIGNED_IN = {CredentialKind.SIGNED_IN}
# OpenAPI links: operations that take the refresh token.
SESSION = {name: {"body.refreshToken": "refreshToken"} for name in ("refreshSession", "logout")}


class SessionViewSet(ApiViewSet):
    """People's accounts, their sessions and user tokens."""

    # The handle of a sign-in, and whether a code was sent with it; set by the actions that are one.
    signs_in: tuple[str, bool] | None = None

    def finalize_response(self, request: Any, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Log a sign-in. A refused one is logged after its transaction was rolled back."""
        final = super().finalize_response(request, response, *args, **kwargs)
        if self.signs_in is not None:
            log_after(final, request, *self.signs_in)
        return final

    @action(detail=False, methods=["post"])
    @operation(
        "register",
        callers=PUBLIC,
        is_atomic=False,
        body=serializers.RegisterBody,
        response=serializers.SignInSerializer,
        status=201,
        errors=(HandleTaken, RegistrationClosed),
        throttle="register",
        response_headers=("Set-Cookie",),
        links=SESSION,
    )
    def register(self, request: ApiRequest) -> Response:
        """Create an account and sign in."""
        if not settings.REGISTRATION_OPEN:
            raise RegistrationClosed
        body = self.body()
        account = register_person(**body)
        self.signs_in = body["handle"], False
        return _signed_in(request, account, status=201)

    @action(detail=False, methods=["post"])
    @operation(
        "login",
        callers=PUBLIC,
        is_atomic=False,
        body=serializers.LoginBody,
        response=serializers.SignInSerializer,
        errors=(AccountBeingErased, InvalidCredentials, InvalidSecondFactor, SecondFactorRequired),
        throttle="session",
        response_headers=("Set-Cookie",),
        links=SESSION,
    )
    def login(self, request: ApiRequest) -> Response:
        """Sign in, with a code if the person has a second factor."""
        body = self.body()
        self.signs_in = body["handle"], bool(body.get("code"))
        account = authenticate(**body, visitor=visitor_of(request))
        return _signed_in(request, account)

    @action(detail=False, methods=["post"])
    @operation(
        "refreshSession",
        callers=PUBLIC,
        body=serializers.RefreshBody,
        response=serializers.AccessSerializer,
        throttle="session",
    )
    def refresh(self, request: ApiRequest) -> Response:
        """Create an access token from a refresh token."""
        access = sessions.refresh_session(**self.body())
        return Response({"accessToken": str(access), "expiresAt": jwt.expiry_of(access)})

    @action(detail=False, methods=["post"])
    @operation(
        "logout",
        callers=PUBLIC,
        body=serializers.RefreshBody,
        response=serializers.SuccessSerializer,
        throttle="session",
    )
    def logout(self, request: ApiRequest) -> Response:
        """End a session at once; its access token expires within minutes."""
        sessions.end_session(**self.body())
        return Response({"success": True})

    @action(detail=False, methods=["post"], url_path="logout-all")
    @operation("logoutAll", callers=SIGNED_IN, response=serializers.SuccessSerializer)
    def logout_all(self, request: ApiRequest) -> Response:
        """Revoke all your tokens and sessions, this one too.

        The tokens of your agents stay valid.
        """
        sessions.end_all_sessions(account=request.user)
        return Response({"success": True})

    @action(detail=False)
    @operation("getMe", callers=SIGNED_IN, response=AccountSerializer)
    def me(self, request: ApiRequest) -> Response:
        """Return the account of the sign-in token."""
        return Response(account_record(request.user))

    @action(detail=False, methods=["post"], url_path="embed-token")
    @operation("createEmbedToken", callers=SIGNED_IN, response=serializers.EmbedTokenSerializer)
    def embed_token(self, request: ApiRequest) -> Response:
        """Create a user token, to post and to manage agents."""
        token = jwt.issue_user_token(request.user)
        return Response(
            {
                "token": str(token),
                "userId": request.user.pk,
                "expiresAt": jwt.expiry_of(token),
                "moderates": moderates_any(request.user),
            }
        )


def _signed_in(request: ApiRequest, account: Account, *, status: int = 200) -> Response:
    session = sessions.start_session(account=account)
    record = {
        "accessToken": session.access,
        "refreshToken": session.refresh,
        "expiresAt": session.expires_at,
        "user": account_record(account),
    }
    response = Response(record, status=status)
    remember(response, visitor_of(request), account.pk)
    return response
