from __future__ import annotations

from typing import Any

from rest_framework.decorators import action

from kernel.api import jwt
from kernel.api.credentials import CredentialKind
from kernel.api.operations import operation
from kernel.api.requests import ApiRequest
from kernel.api.responses import Response
from kernel.api.viewsets import ApiViewSet
from messaging import panel_cookie
from messaging.exceptions import PanelRequired, PanelSessionEnded, RecentSignInRequired
from messaging.panel_cookie import require_panel, secret_of
from messaging.serializers.panel_sessions import PanelTokenSerializer
from messaging.serializers.sessions import SuccessSerializer
from messaging.services import panel_sessions
from messaging.services.accounts import account_record
from messaging.services.moderators import moderates_any

PRIVATE = {"Cache-Control": "no-store"}
# The declaration that the three operations share.
OF_PANEL: dict[str, Any] = {
    "throttle": "session",
    "headers": (panel_cookie.GUARD,),
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
        if panel_cookie.has_cookie(request):
            # Of this browser, which gets another cookie now.
            panel_sessions.end_panel_session(secret=secret_of(request))
        secret = panel_sessions.start_panel_session(account=request.user, signed_in_at=request.auth.signed_in_at)
        return Response({"success": True}, headers=PRIVATE | panel_cookie.cookie(secret))

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
        if panel_cookie.has_cookie(request):
            panel_sessions.end_panel_session(secret=secret_of(request))
        return Response({"success": True}, headers=PRIVATE | panel_cookie.no_cookie())

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
            issued = panel_sessions.issue_panel_token(secret=secret)
        except PanelSessionEnded as ended:
            ended.headers |= panel_cookie.no_cookie()
            raise
        renewed = panel_cookie.cookie(secret) if issued.renewed else {}
        return Response(_token_record(issued), headers=PRIVATE | renewed)


def _token_record(issued: panel_sessions.PanelToken) -> dict[str, Any]:
    return {
        "token": str(issued.token),
        "userId": issued.account.pk,
        "expiresAt": jwt.expiry_of(issued.token),
        "expiresIn": int(panel_sessions.TOKEN_LIFETIME.total_seconds()),
        "user": account_record(issued.account),
        "moderates": moderates_any(issued.account),
    }
