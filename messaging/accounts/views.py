"""Adds the sign-ins by the API, which the window of the widget uses too, to the log of sign-ins."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from rest_framework.decorators import action

from kernel.api import jwt
from kernel.api.addresses import truncated_network
from kernel.api.context import ApiRequest
from kernel.api.credentials import CredentialKind
from kernel.api.operations import operation
from kernel.api.requests import Response
from kernel.api.viewsets import ApiViewSet
from messaging.accounts import serializers, sessions
from messaging.accounts.exceptions import (
    HandleTaken,
    InvalidCredentials,
    InvalidSecondFactor,
    PanelRequired,
    PanelSessionEnded,
    RecentSignInRequired,
    RegistrationClosed,
    SecondFactorRequired,
)
from messaging.accounts.second_factor import has_second_factor
from messaging.accounts.serializers import AccountSerializer, PanelTokenSerializer, SuccessSerializer
from messaging.accounts.services import account_record, authenticate, register_person
from messaging.accounts.sessions import is_of_panel, require_panel, secret_of
from messaging.accounts.sign_ins import log_first_factor, log_sign_in, person_named
from messaging.accounts.visitors import remember, visitor_of
from messaging.communities.moderators import moderates_any
from messaging.models import Account, Door, Factor
from messaging.privacy.exceptions import AccountBeingErased

PRIVATE = {"Cache-Control": "no-store"}
# The declaration that the three operations share.
OF_PANEL: dict[str, Any] = {
    "throttle": "session",
    "headers": (sessions.GUARD,),
    "response_headers": ("Set-Cookie",),
}


class PanelSessionViewSet(ApiViewSet):
    """The session of a person in the panel of one site."""

    @action(detail=False, methods=["post"], url_path="panel-session")
    @operation(
        "createPanelSession",
        callers={CredentialKind.SIGNED_IN},
        response=SuccessSerializer,
        errors=(PanelRequired, RecentSignInRequired),
        **OF_PANEL,
    )
    def start(self, request: ApiRequest) -> Response:
        """Open a session of the panel with a sign-in of the last five minutes.

        A refreshed access token opens none. For the panel alone: its cookie ends after 30 days without use. A replay
        has no cookie.
        """
        require_panel(request)
        if sessions.has_cookie(request):
            # Of this browser, which gets another cookie now.
            sessions.end_panel_session(secret=secret_of(request))
        secret = sessions.start_panel_session(account=request.user, signed_in_at=request.auth.signed_in_at)
        return Response({"success": True}, headers=PRIVATE | sessions.cookie(secret))

    @start.mapping.delete
    @operation(
        "endPanelSession",
        callers={CredentialKind.PUBLIC},
        response=SuccessSerializer,
        errors=(PanelRequired,),
        **OF_PANEL,
    )
    def end(self, request: ApiRequest) -> Response:
        """End the session of the panel's cookie, and delete the cookie."""
        require_panel(request)
        if sessions.has_cookie(request):
            sessions.end_panel_session(secret=secret_of(request))
        return Response({"success": True}, headers=PRIVATE | sessions.no_cookie())

    @action(detail=False, methods=["post"], url_path="panel-token")
    @operation(
        "createPanelToken",
        callers={CredentialKind.PUBLIC},
        response=PanelTokenSerializer,
        errors=(PanelRequired, PanelSessionEnded),
        **OF_PANEL,
    )
    def token(self, request: ApiRequest) -> Response:
        """Create a user token of 15 minutes from the panel's cookie.

        It opens only what the panel does: posts, reactions, reports, and decisions of moderators on them.
        """
        require_panel(request)
        secret = secret_of(request)
        try:
            issued = sessions.issue_panel_token(secret=secret)
        except PanelSessionEnded as ended:
            ended.headers |= sessions.no_cookie()
            raise
        renewed = sessions.cookie(secret) if issued.renewed else {}
        return Response(panel_token_record(issued), headers=PRIVATE | renewed)


def panel_token_record(issued: sessions.PanelToken) -> dict[str, Any]:
    return {
        "token": str(issued.token),
        "userId": issued.account.pk,
        "expiresAt": jwt.expiry_of(issued.token),
        "expiresIn": int(sessions.TOKEN_LIFETIME.total_seconds()),
        "user": account_record(issued.account),
        "moderates": moderates_any(issued.account),
    }


def log_after(response: Response, request: HttpRequest, handle: str, has_code: bool) -> None:
    """Log the sign-in that the response answers, when it has been sent: so its time says nothing about the handle."""
    network = truncated_network(request)
    door = Door.WIDGET if is_of_panel(request) else Door.API
    if isinstance(response.error, SecondFactorRequired):
        _when_closed(response, partial(_log_first_factor, handle, network=network, door=door))
        return
    is_code_wrong = isinstance(response.error, InvalidSecondFactor)
    refused = is_code_wrong or isinstance(response.error, InvalidCredentials)
    if not refused and response.status_code >= HTTPStatus.BAD_REQUEST:
        return
    second = Factor.CODE if has_code and (is_code_wrong or not refused) else ""
    _when_closed(response, partial(_log, handle, network=network, door=door, second=second, refused=refused))


def _when_closed(response: Response, log: Callable[[], None]) -> None:
    # Django calls these functions when the server closes the response, and has no public name for the list.
    response._resource_closers.append(log)  # type: ignore[attr-defined]


def _log_first_factor(handle: str, *, network: str, door: Door) -> None:
    log_first_factor(account=person_named(handle), network=network, door=door, first=Factor.PASSWORD)


def _log(handle: str, *, network: str, door: Door, second: str, refused: bool) -> None:
    account = person_named(handle)
    if account is None or not has_second_factor(account=account):
        second = ""
    log_sign_in(account=account, network=network, door=door, first=Factor.PASSWORD, second=second, refused=refused)


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
