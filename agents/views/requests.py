from __future__ import annotations

from django.http import HttpResponse
from rest_framework.decorators import action
from rest_framework.mixins import ListModelMixin

from agents.exceptions import (
    AgentFrozen,
    RequestNotApproved,
    RequestNotFound,
    RequestNotPending,
    TooManyActiveTokens,
    TooManyPendingRequests,
)
from agents.filters import AgentRequestFilter
from agents.models import AgentRequest, RequestStatus
from agents.serializers.inputs import Approval, NewRequest, NewToken, ReasonBody
from agents.serializers.outputs import EXAMPLE_AGENT, CreatedTokenSerializer, RequestListSerializer, RequestSerializer
from agents.services import (
    approve_request,
    cancel_request,
    create_token,
    readable_request,
    reject_request,
    request_agent,
)
from kernel.api.credentials import CredentialKind
from kernel.api.exceptions import SuperAdminRequired
from kernel.api.fields import ListQuery
from kernel.api.openapi.example_values import TIME
from kernel.api.operations import operation
from kernel.api.requests import ApiRequest
from kernel.api.responses import Response
from kernel.api.viewsets import ApiViewSet
from messaging.accounts.exceptions import HandleTaken
from messaging.accounts.serializers import EXAMPLE_PERSON

PERSON = {CredentialKind.PERSON}
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
        errors=(HandleTaken, TooManyPendingRequests),
        links={name: {"id": "id"} for name in AFTER_REQUEST},
    )
    def create(self, request: ApiRequest) -> Response:
        """Request an agent account.

        A super admin decides. Three requests of a person may be pending; a pending or approved one reserves its
        handle.
        """
        return Response(self.represent(request_agent(requester=request.user, **self.body())), status=201)

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
        """Approve a pending request: create the agent (super admins).

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
