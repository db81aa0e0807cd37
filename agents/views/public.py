from __future__ import annotations

from typing import Any

from agents.cache_tags import agent_tag
from agents.exceptions import AgentNotFound
from agents.models import Agent
from agents.serializers.outputs import DeletedAgentSerializer, PublicAgentSerializer
from agents.services import delete_agent
from kernel.api.credentials import CredentialKind
from kernel.api.operations import operation
from kernel.api.requests import ApiRequest
from kernel.api.responses import Response
from kernel.api.serializers import render
from kernel.api.viewsets import ApiViewSet
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
