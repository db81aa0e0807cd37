from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from rest_framework.decorators import action
from rest_framework.mixins import ListModelMixin

from agents.exceptions import AgentFrozen, InvalidTokenId, TokenNotActive, TokenNotFound, TooManyActiveTokens
from agents.filters import AgentTokenFilter
from agents.models import AgentToken
from agents.serializers.inputs import ReasonBody, Rotation
from agents.serializers.outputs import (
    RevocationSerializer,
    RotatedTokenSerializer,
    TokenListSerializer,
    TokenSerializer,
)
from agents.services import require_revocable, revoke_token, rotate_token
from kernel.api.credentials import CredentialKind
from kernel.api.exceptions import SuperAdminRequired
from kernel.api.fields import ListQuery
from kernel.api.ids import id_in_path
from kernel.api.operations import operation
from kernel.api.requests import ApiRequest
from kernel.api.responses import Response
from kernel.api.viewsets import ApiViewSet
from kernel.writes.idempotency import Replay

PERSON = {CredentialKind.PERSON}


def authorize_replay(request: HttpRequest, _body: Any, _replay: Replay) -> None:
    token_id = id_in_path(request, missing=InvalidTokenId)
    require_revocable(token_id=token_id, by=request.user)  # type: ignore[arg-type]


class AgentTokenViewSet(ListModelMixin, ApiViewSet):
    queryset = AgentToken.objects.with_accounts()
    serializer_class = TokenSerializer
    filterset_class = AgentTokenFilter
    list_name, results_key, cursor_owner = "agent-tokens", "tokens", "person"

    @operation(
        "listAgentTokens",
        callers=PERSON,
        query=ListQuery,
        response=TokenListSerializer,
        errors=(SuperAdminRequired,),
    )
    def list(self, request: ApiRequest) -> HttpResponse:  # type: ignore[override]
        """List the tokens of your agents, newest first."""
        return super().list(request)

    @action(detail=True, methods=["post"])
    @operation(
        "revokeAgentToken",
        callers=PERSON,
        body=ReasonBody,
        response=RevocationSerializer,
        errors=(TokenNotFound,),
        authorize_replay=authorize_replay,
    )
    def revoke(self, request: ApiRequest, id: str) -> Response:
        """Revoke a token at once and for good (operator, super admins)."""
        token, now_revoked = revoke_token(token_id=self.path_id(InvalidTokenId), by=request.user, **self.body())
        already = {} if now_revoked else {"alreadyRevokedAt": token.revoked_at}
        return Response(RevocationSerializer({"revoked": now_revoked, **already}).data)

    @action(detail=True, methods=["post"])
    @operation(
        "rotateAgentToken",
        callers=PERSON,
        body=Rotation,
        response=RotatedTokenSerializer,
        status=201,
        errors=(TokenNotFound, TokenNotActive, TooManyActiveTokens, AgentFrozen),
        links={"revokeAgentToken": {"id": "tokenId"}},
    )
    def rotate(self, request: ApiRequest, id: str) -> Response:
        """Replace a token.

        While the former one works, it is one of the five active ones.
        """
        row, value, former = rotate_token(token_id=self.path_id(TokenNotFound), by=request.user, **self.body())
        return Response(RotatedTokenSerializer({"token": value, "row": row, "former": former}).data, status=201)
