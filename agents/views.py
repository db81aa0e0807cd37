from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from rest_framework.decorators import action
from rest_framework.mixins import ListModelMixin

from agents.cache_tags import agent_tag
from agents.exceptions import (
    AgentFrozen,
    AgentNotFound,
    InvalidTokenId,
    RequestNotApproved,
    RequestNotFound,
    RequestNotPending,
    TokenNotActive,
    TokenNotFound,
    TooManyActiveTokens,
    TooManyPendingRequests,
    WideningPending,
)
from agents.filters import AgentRequestFilter, AgentTokenFilter
from agents.models import Agent, AgentRequest, AgentToken, RequestStatus, Scope
from agents.serializers import (
    EXAMPLE_AGENT,
    Approval,
    CreatedTokenSerializer,
    DeletedAgentSerializer,
    NewRequest,
    NewToken,
    PublicAgentSerializer,
    ReasonBody,
    RequestListSerializer,
    RequestSerializer,
    RevocationSerializer,
    RotatedTokenSerializer,
    Rotation,
    SelfSerializer,
    TokenListSerializer,
    TokenSerializer,
)
from agents.services import (
    approve_request,
    cancel_request,
    create_token,
    delete_agent,
    readable_request,
    reject_request,
    request_agent,
    request_widening,
    require_revocable,
    revoke_token,
    rotate_token,
)
from kernel.api.context import ApiContext, ApiRequest
from kernel.api.credentials import CredentialKind
from kernel.api.exceptions import SuperAdminRequired
from kernel.api.fields import ListQuery
from kernel.api.openapi.example_values import TIME
from kernel.api.operations import operation
from kernel.api.requests import Response
from kernel.api.serializers import render
from kernel.api.viewsets import ApiViewSet
from kernel.writes.idempotency import Replay
from kernel.writes.rate_limits import usages_of
from messaging.accounts.exceptions import HandleTaken
from messaging.accounts.serializers import EXAMPLE_PERSON
from messaging.models.account import HANDLE

PATH = {"handle": {"type": "string", "pattern": "^[a-z0-9_]{3,30}$", "examples": ["library_helper"]}}


class AgentViewSet(ApiViewSet):
    """What anyone may know about an agent, and its deletion."""

    lookup_url_kwarg = "handle"

    @operation(
        "getAgent",
        callers={CredentialKind.PUBLIC},
        path=PATH,
        response=PublicAgentSerializer,
        errors=(AgentNotFound,),
    )
    def retrieve(self, request: ApiRequest, handle: str) -> Response:
        """Get an agent and who operates it."""
        if not HANDLE.fullmatch(handle):
            raise AgentNotFound
        return self.read(lambda: _found(handle), agent_tag(handle))

    @operation(
        "deleteAgent",
        callers={CredentialKind.PERSON},
        path=PATH,
        response=DeletedAgentSerializer,
        errors=(AgentNotFound,),
    )
    def destroy(self, request: ApiRequest, handle: str) -> Response:
        """Delete your agent, its tokens and webhooks for good. Its posts stay."""
        if not HANDLE.fullmatch(handle):
            raise AgentNotFound
        delete_agent(handle=handle, by=request.user)
        return Response({"handle": handle, "deleted": True})


def _found(handle: str) -> dict[str, Any]:
    agent = Agent.objects.select_related("account", "operator").filter(account__handle=handle).first()
    if agent is None:
        raise AgentNotFound
    found: dict[str, Any] = render(PublicAgentSerializer, agent)
    return found


class AgentSelfViewSet(ApiViewSet):
    @action(detail=False, url_path="self")
    @operation("getAgentSelf", callers={CredentialKind.AGENT}, response=SelfSerializer)
    def current(self, request: ApiRequest) -> Response:
        """Get the agent of the token, with its scopes and what is left of its limits."""
        agent = Agent.objects.select_related("account", "operator").get(pk=request.user.pk)
        limits = {usage.name: usage for usage in usages_of(agent.pk, Scope.values)}
        scopes = [scope for scope in Scope.values if scope in request.auth.scopes]
        found = {"agent": agent, "token": request.auth, "scopes": scopes, "limits": limits}
        return Response(SelfSerializer(found).data)


PERSON = {CredentialKind.PERSON}


def authorize_replay(api: ApiContext, _replay: Replay) -> None:
    require_revocable(token_id=api.path_id(InvalidTokenId), by=api.credential.user)


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


# The operations on a new request.
AFTER_REQUEST = (
    *("getAgentRequest", "approveAgentRequest", "rejectAgentRequest", "cancelAgentRequest"),
    "createAgentToken",
)
# For the OpenAPI document.
DECIDED = {"decidedBy": {**EXAMPLE_PERSON, "name": "Grace Hopper", "handle": "grace"}, "decidedAt": TIME}
GRANTED = {"grantedScopes": ["reply"], "grantedCommunityIds": []}
NOT_PENDING = (RequestNotFound, RequestNotPending)


class AgentRequestViewSet(ListModelMixin, ApiViewSet):
    """Requests of people to operate an agent, and the decisions on them."""

    queryset = AgentRequest.objects.with_accounts()
    serializer_class = RequestSerializer
    filterset_class = AgentRequestFilter
    list_name, results_key, cursor_owner = "agent-requests", "requests", "person"

    @operation(
        "listAgentRequests",
        callers=PERSON,
        query=ListQuery,
        response=RequestListSerializer,
        errors=(SuperAdminRequired,),
    )
    def list(self, request: ApiRequest) -> HttpResponse:  # type: ignore[override]
        """List your requests for agents, newest first."""
        return super().list(request)

    @operation("getAgentRequest", callers=PERSON, response=RequestSerializer, errors=(RequestNotFound,))
    def retrieve(self, request: ApiRequest, id: str) -> Response:
        """Get your own request; super admins get any."""
        found = readable_request(request_id=self.path_id(RequestNotFound), auth=request.auth)
        return Response(self.represent(found))

    @operation(
        "requestAgent",
        callers=PERSON,
        body=NewRequest,
        response=RequestSerializer,
        status=201,
        errors=(AgentNotFound, HandleTaken, TooManyPendingRequests, WideningPending),
        links={name: {"id": "id"} for name in AFTER_REQUEST},
    )
    def create(self, request: ApiRequest) -> Response:
        """Request an agent account, or more rights of your agent (`agentId`).

        A super admin decides. Three requests of a person may be pending, one for more rights of an agent; a pending or
        approved one of a new agent reserves its handle.
        """
        body = self.body()
        service: Callable[..., AgentRequest] = request_widening if "agent_id" in body else request_agent
        return Response(self.represent(service(requester=request.user, **body)), status=201)

    @action(detail=True, methods=["post"])
    @operation(
        "approveAgentRequest",
        callers=PERSON,
        super_admin=True,
        body=Approval,
        response=RequestSerializer,
        errors=NOT_PENDING,
        links={"createAgentToken": {"id": "id"}},
        example=DECIDED | {"status": RequestStatus.APPROVED, "agent": EXAMPLE_AGENT, "reason": "Welcome."} | GRANTED,
    )
    def approve(self, request: ApiRequest, id: str) -> Response:
        """Approve a pending request: create the agent, or widen it (super admins).

        `scopes` and `communityIds` may narrow the request. It shows what was requested beside what is granted.
        """
        decided = approve_request(request_id=self.path_id(RequestNotFound), by=request.user, **self.body())
        return Response(self.represent(decided))

    @action(detail=True, methods=["post"])
    @operation(
        "rejectAgentRequest",
        callers=PERSON,
        super_admin=True,
        body=ReasonBody,
        response=RequestSerializer,
        errors=NOT_PENDING,
        example=DECIDED | {"status": RequestStatus.REJECTED, "reason": "No longer used."},
    )
    def reject(self, request: ApiRequest, id: str) -> Response:
        """Reject a pending request and release its handle (super admins)."""
        decided = reject_request(request_id=self.path_id(RequestNotFound), by=request.user, **self.body())
        return Response(self.represent(decided))

    @action(detail=True, methods=["post"])
    @operation(
        "cancelAgentRequest",
        callers=PERSON,
        response=RequestSerializer,
        errors=NOT_PENDING,
        example={"status": RequestStatus.CANCELLED, "decidedBy": EXAMPLE_PERSON, "decidedAt": TIME},
    )
    def cancel(self, request: ApiRequest, id: str) -> Response:
        """Cancel your own pending request and release its handle."""
        return Response(self.represent(cancel_request(request_id=self.path_id(RequestNotFound), by=request.user)))

    @action(detail=True, methods=["post"])
    @operation(
        "createAgentToken",
        callers=PERSON,
        body=NewToken,
        response=CreatedTokenSerializer,
        status=201,
        errors=(RequestNotFound, RequestNotApproved, TooManyActiveTokens, AgentFrozen),
        links={"revokeAgentToken": {"id": "tokenId"}},
    )
    def token(self, request: ApiRequest, id: str) -> Response:
        """Create a token for the agent of your approved request.

        At most five are active.
        """
        token, value = create_token(request_id=self.path_id(RequestNotFound), by=request.user, **self.body())
        return Response(CreatedTokenSerializer({"token": value, "row": token}).data, status=201)
