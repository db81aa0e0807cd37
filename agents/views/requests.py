from __future__ import annotations

from rest_framework.decorators import action

from agents.errors import (
    AgentFrozen,
    RequestNotApproved,
    RequestNotFound,
    RequestNotPending,
    TooManyActiveTokens,
    TooManyPendingRequests,
)
from agents.models import AgentRequest
from agents.records import new_token_record, request_record
from agents.serializers import (
    Approval,
    NewRequest,
    NewToken,
    NewTokenRecord,
    Reason,
    RequestListRecord,
    RequestRecord,
    RequestsQuery,
)
from agents.services import approve_request, cancel_request, create_token, reject_request, request_agent
from config.api.credentials import CredentialKind
from config.api.cursors import envelope
from config.api.errors import SuperAdminRequired
from config.api.operations import operation
from config.api.responses import Response
from config.api.viewsets import ApiRequest, ApiViewSet
from messaging.errors import HandleTaken

PERSON = {CredentialKind.PERSON}
NOT_PENDING = (RequestNotFound, RequestNotPending)


class AgentRequestViewSet(ApiViewSet):
    """What people ask for, and what becomes of it."""

    @operation(
        "listAgentRequests", callers=PERSON, query=RequestsQuery, answer=RequestListRecord, errors=(SuperAdminRequired,)
    )
    def list(self, request: ApiRequest) -> Response:
        """One's own requests, newest first; with `all=1` everybody's, for super admins."""
        query, held = self.query(), AgentRequest.objects.with_accounts()
        if "all" in query and not request.auth.is_super_admin:
            raise SuperAdminRequired
        if "all" not in query:
            held = held.asked_by(request.user)
        if "status" in query:
            held = held.filter(status=query["status"])
        rows, cursor = self.page("agent-requests", query, person=request.user.pk).cut(held)
        return Response(envelope("requests", [request_record(row) for row in rows], cursor))

    @operation(
        "requestAgent",
        callers=PERSON,
        body=NewRequest,
        answer=RequestRecord,
        status=201,
        errors=(HandleTaken, TooManyPendingRequests),
        links={
            name: {"id": "id"}
            for name in ("approveAgentRequest", "rejectAgentRequest", "cancelAgentRequest", "createAgentToken")
        },
    )
    def create(self, request: ApiRequest) -> Response:
        """Ask for an agent account.

        A super admin decides. At most three requests of a person may be pending; a pending or approved request holds
        its handle.
        """
        return Response(request_record(request_agent(requester=request.user, **self.body())), status=201)

    @action(detail=True, methods=["post"])
    @operation(
        "approveAgentRequest", callers=PERSON, super_admin=True, body=Approval, answer=RequestRecord, errors=NOT_PENDING
    )
    def approve(self, request: ApiRequest, id: str) -> Response:
        """Make the agent, operated by the requester (super admins).

        `scopes` and `communityIds` may narrow what was asked for, never widen it. The request keeps what was asked;
        the agent's tokens show what holds.
        """
        decided = approve_request(request_id=self.path_id(RequestNotFound), by=request.user, **self.body())
        return Response(request_record(decided))

    @action(detail=True, methods=["post"])
    @operation(
        "rejectAgentRequest", callers=PERSON, super_admin=True, body=Reason, answer=RequestRecord, errors=NOT_PENDING
    )
    def reject(self, request: ApiRequest, id: str) -> Response:
        """Refuse a pending request (super admins). Its handle is free again."""
        decided = reject_request(request_id=self.path_id(RequestNotFound), by=request.user, **self.body())
        return Response(request_record(decided))

    @action(detail=True, methods=["post"])
    @operation("cancelAgentRequest", callers=PERSON, answer=RequestRecord, errors=NOT_PENDING)
    def cancel(self, request: ApiRequest, id: str) -> Response:
        """Take back one's own pending request. Its handle is free again."""
        return Response(request_record(cancel_request(request_id=self.path_id(RequestNotFound), by=request.user)))

    @action(detail=True, methods=["post"])
    @operation(
        "createAgentToken",
        callers=PERSON,
        body=NewToken,
        answer=NewTokenRecord,
        status=201,
        errors=(RequestNotFound, RequestNotApproved, TooManyActiveTokens, AgentFrozen),
        links={"revokeAgentToken": {"id": "tokenId"}},
    )
    def token(self, request: ApiRequest, id: str) -> Response:
        """A new token of the agent one's approved request made. It is shown in this answer and never again.

        An agent has at most five active tokens. A repeat with the same Idempotency-Key answers the same token.
        """
        token, value = create_token(request_id=self.path_id(RequestNotFound), by=request.user, **self.body())
        return Response(new_token_record(token, value), status=201)
