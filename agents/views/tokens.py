from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from rest_framework.decorators import action

from agents.errors import TokenNotFound
from agents.models import AgentToken
from agents.records import revocation_record, token_record
from agents.serializers import Reason, RevocationRecord, TokenListRecord, TokensQuery
from agents.services import require_revocable, revoke_token
from config.api.credentials import CredentialKind
from config.api.cursors import envelope
from config.api.errors import InvalidInput, SuperAdminRequired
from config.api.ids import parse_id
from config.api.operations import operation
from config.api.responses import Response
from config.api.viewsets import ApiRequest, ApiViewSet
from config.writes.idempotency import Replay

PERSON = {CredentialKind.PERSON}


def authorize_replay(request: HttpRequest, _body: Any, _replay: Replay) -> None:
    token_id = parse_id(request.resolver_match.kwargs["id"], missing=InvalidInput)  # type: ignore[union-attr]
    require_revocable(token_id=token_id, by=request.user)  # type: ignore[arg-type]


class AgentTokenViewSet(ApiViewSet):
    @operation(
        "listAgentTokens", callers=PERSON, query=TokensQuery, answer=TokenListRecord, errors=(SuperAdminRequired,)
    )
    def list(self, request: ApiRequest) -> Response:
        """Tokens of the agents one operates, newest first, prefix only; with `all=1` everybody's, for super admins."""
        query, held = self.query(), AgentToken.objects.with_accounts()
        if "all" in query and not request.auth.is_super_admin:
            raise SuperAdminRequired
        if "all" not in query:
            held = held.operated_by(request.user)
        rows, cursor = self.page("agent-tokens", query, person=request.user.pk).cut(held)
        return Response(envelope("tokens", [token_record(row) for row in rows], cursor))

    @action(detail=True, methods=["post"])
    @operation(
        "revokeAgentToken",
        callers=PERSON,
        body=Reason,
        answer=RevocationRecord,
        errors=(TokenNotFound,),
        authorize_replay=authorize_replay,
    )
    def revoke(self, request: ApiRequest, id: str) -> Response:
        """Revoke a token at once and for good: its agent's operator or a super admin."""
        token, now_revoked = revoke_token(token_id=self.path_id(InvalidInput), by=request.user, **self.body())
        return Response(revocation_record(token, now_revoked=now_revoked))
