from __future__ import annotations

from typing import Any

from django.conf import settings

from config.api import jwt
from config.api.callers import CallerKind
from config.api.operations import operation
from config.api.responses import Response
from config.api.views import ApiRequest, ApiView
from messaging import sign_in
from messaging.accounts import account_record, register_person
from messaging.accounts import sign_in as check_password
from messaging.errors import HandleTaken, InvalidCredentials, RegistrationClosed
from messaging.serializers import sessions as serializers
from messaging.serializers.accounts import AccountSerializer

ANYBODY = {CallerKind.PUBLIC}
SIGNED_IN = {CallerKind.SIGNED_IN}


class RegisterView(ApiView):
    @operation(
        "register",
        callers=ANYBODY,
        body=serializers.RegisterBody,
        answer=serializers.SignInSerializer,
        status=201,
        errors=(HandleTaken, RegistrationClosed),
        throttle="register",
    )
    def post(self, request: ApiRequest) -> Response:
        """Open an account and sign in."""
        if not settings.REGISTRATION_OPEN:
            raise RegistrationClosed
        account = register_person(**self.body(serializers.RegisterBody))
        return Response(_session(sign_in.start_session(account=account)), status=201)


class LoginView(ApiView):
    @operation(
        "login",
        callers=ANYBODY,
        body=serializers.LoginBody,
        answer=serializers.SignInSerializer,
        errors=(InvalidCredentials,),
        throttle="sign_in",
    )
    def post(self, request: ApiRequest) -> Response:
        """Sign in with handle and password."""
        account = check_password(**self.body(serializers.LoginBody))
        return Response(_session(sign_in.start_session(account=account)))


class RefreshView(ApiView):
    @operation(
        "refreshSession",
        callers=ANYBODY,
        body=serializers.RefreshBody,
        answer=serializers.AccessSerializer,
        throttle="session",
    )
    def post(self, request: ApiRequest) -> Response:
        """A new access token for a refresh token."""
        access = sign_in.refresh_session(**self.body(serializers.RefreshBody))
        return Response({"accessToken": str(access), "expiresAt": jwt.expiry_of(access)})


class LogoutView(ApiView):
    @operation(
        "logout",
        callers=ANYBODY,
        body=serializers.RefreshBody,
        answer=serializers.LoggedOutSerializer,
        throttle="session",
    )
    def post(self, request: ApiRequest) -> Response:
        """End a session: its refresh token is refused from now on, its access token ends by itself in minutes."""
        sign_in.end_session(**self.body(serializers.RefreshBody))
        return Response({"success": True})


class LogoutAllView(ApiView):
    @operation("logoutAll", callers=SIGNED_IN, answer=serializers.LoggedOutSerializer)
    def post(self, request: ApiRequest) -> Response:
        """Sign out everywhere: every token and admin session issued so far ends, the calling one too.

        Tokens of one's agents go on working; they are revoked one by one.
        """
        sign_in.end_all_sessions(account=request.caller.account)
        return Response({"success": True})


class MeView(ApiView):
    @operation("getMe", callers=SIGNED_IN, answer=AccountSerializer)
    def get(self, request: ApiRequest) -> Response:
        """Whose sign-in JWT this is."""
        return Response(account_record(request.caller.account))


class EmbedTokenView(ApiView):
    @operation("createEmbedToken", callers=SIGNED_IN, answer=serializers.EmbedTokenSerializer)
    def post(self, request: ApiRequest) -> Response:
        """A user token, for posting from a page and for managing agents."""
        account = request.caller.account
        token = jwt.issue_user_token(account)
        return Response({"token": str(token), "userId": account.pk, "expiresAt": jwt.expiry_of(token)})


def _session(session: sign_in.SignedIn) -> dict[str, Any]:
    return {
        "accessToken": session.access,
        "refreshToken": session.refresh,
        "expiresAt": session.expires_at,
        "user": account_record(session.account),
    }
