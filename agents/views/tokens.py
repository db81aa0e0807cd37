from __future__ import annotations

from agents.errors import AgentFrozen, RequestNotApproved, RequestNotFound, TokenNotFound, TooManyActiveTokens
from agents.models import AgentToken
from agents.records import new_token_record, revocation_record, token_record
from agents.serializers import NewToken, NewTokenRecord, Reason, RevocationRecord, TokenListRecord, TokensQuery
from agents.services import create_token, require_revocable, revoke_token
from agents.views.callers import PERSON, super_admin
from config.api.cursors import envelope
from config.api.errors import InvalidInput, SuperAdminRequired
from config.api.idempotency import Replay
from config.api.operations import operation
from config.api.responses import Response
from config.api.views import ApiRequest, ApiView


class TokensView(ApiView):
    @operation(
        "listAgentTokens",
        callers=PERSON,
        query=TokensQuery,
        answer=TokenListRecord,
        errors=(SuperAdminRequired,),
    )
    def get(self, request: ApiRequest) -> Response:
        """Tokens of the agents one operates, newest first, prefix only; with `all=1` everybody's, for super admins."""
        query, held = self.query(TokensQuery), AgentToken.objects.with_accounts()
        person = super_admin(request.caller) if "all" in query else request.caller.account
        if "all" not in query:
            held = held.operated_by(person)
        rows, cursor = self.page("agent-tokens", query, person=person.pk).cut(held)
        return Response(envelope("tokens", [token_record(row) for row in rows], cursor))


class NewTokenView(ApiView):
    @operation(
        "createAgentToken",
        callers=PERSON,
        body=NewToken,
        answer=NewTokenRecord,
        status=201,
        errors=(RequestNotFound, RequestNotApproved, TooManyActiveTokens, AgentFrozen),
        links={"revokeAgentToken": {"id": "tokenId"}},
    )
    def post(self, request: ApiRequest, id: str) -> Response:
        """A new token of the agent one's approved request made. It is shown in this answer and never again.

        An agent has at most five active tokens. A repeat with the same Idempotency-Key answers the same token.
        """
        by = request.caller.account
        token, value = create_token(request_id=self.path_id(RequestNotFound), by=by, **self.body(NewToken))
        return Response(new_token_record(token, value), status=201)


class RevokeView(ApiView):
    def check_replay(self, replay: Replay) -> None:
        require_revocable(token_id=self.path_id(InvalidInput), by=self.request.caller.account)

    @operation(
        "revokeAgentToken",
        callers=PERSON,
        body=Reason,
        answer=RevocationRecord,
        errors=(TokenNotFound,),
    )
    def post(self, request: ApiRequest, id: str) -> Response:
        """Revoke a token at once and for good: its agent's operator or a super admin."""
        by = request.caller.account
        token, now_revoked = revoke_token(token_id=self.path_id(InvalidInput), by=by, **self.body(Reason))
        return Response(revocation_record(token, now_revoked=now_revoked))
