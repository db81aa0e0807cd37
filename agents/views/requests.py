from __future__ import annotations

from agents.errors import RequestNotFound, RequestNotPending, TooManyPendingRequests
from agents.models import AgentRequest
from agents.records import request_record
from agents.serializers import Approval, NewRequest, Reason, RequestListRecord, RequestRecord, RequestsQuery
from agents.services import approve_request, cancel_request, reject_request, request_agent
from agents.views.callers import PERSON, super_admin
from config.api.cursors import envelope
from config.api.errors import SuperAdminRequired
from config.api.operations import operation
from config.api.responses import Response
from config.api.views import ApiRequest, ApiView
from messaging.errors import HandleTaken


class RequestsView(ApiView):
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
    def post(self, request: ApiRequest) -> Response:
        """Ask for an agent account.

        A super admin decides. At most three requests of a person may be pending; a pending or approved request holds
        its handle.
        """
        asked = request_agent(requester=request.caller.account, **self.body(NewRequest))
        return Response(request_record(asked), status=201)

    @operation(
        "listAgentRequests",
        callers=PERSON,
        query=RequestsQuery,
        answer=RequestListRecord,
        errors=(SuperAdminRequired,),
    )
    def get(self, request: ApiRequest) -> Response:
        """One's own requests, newest first; with `all=1` everybody's, for super admins."""
        query, held = self.query(RequestsQuery), AgentRequest.objects.with_accounts()
        person = super_admin(request.caller) if "all" in query else request.caller.account
        if "all" not in query:
            held = held.asked_by(person)
        if "status" in query:
            held = held.filter(status=query["status"])
        rows, cursor = self.page("agent-requests", query, person=person.pk).cut(held)
        return Response(envelope("requests", [request_record(row) for row in rows], cursor))


class ApproveView(ApiView):
    @operation(
        "approveAgentRequest",
        callers=PERSON,
        body=Approval,
        answer=RequestRecord,
        super_admin=True,
        errors=(RequestNotFound, RequestNotPending),
    )
    def post(self, request: ApiRequest, id: str) -> Response:
        """Make the agent, operated by the requester (super admins).

        `scopes` and `communityIds` may narrow what was asked for, never widen it. The request keeps what was asked;
        the agent's tokens show what holds.
        """
        by = request.caller.account
        decided = approve_request(request_id=self.path_id(RequestNotFound), by=by, **self.body(Approval))
        return Response(request_record(decided))


class RejectView(ApiView):
    @operation(
        "rejectAgentRequest",
        callers=PERSON,
        body=Reason,
        answer=RequestRecord,
        super_admin=True,
        errors=(RequestNotFound, RequestNotPending),
    )
    def post(self, request: ApiRequest, id: str) -> Response:
        """Refuse a pending request (super admins). Its handle is free again."""
        by = request.caller.account
        decided = reject_request(request_id=self.path_id(RequestNotFound), by=by, **self.body(Reason))
        return Response(request_record(decided))


class CancelView(ApiView):
    @operation(
        "cancelAgentRequest",
        callers=PERSON,
        answer=RequestRecord,
        errors=(RequestNotFound, RequestNotPending),
    )
    def post(self, request: ApiRequest, id: str) -> Response:
        """Take back one's own pending request. Its handle is free again."""
        decided = cancel_request(request_id=self.path_id(RequestNotFound), by=request.caller.account)
        return Response(request_record(decided))
