from __future__ import annotations

from rest_framework.decorators import action

from agents.models import Agent, Scope
from agents.serializers.outputs import SelfSerializer
from kernel.api.credentials import CredentialKind
from kernel.api.operations import operation
from kernel.api.requests import ApiRequest
from kernel.api.responses import Response
from kernel.api.viewsets import ApiViewSet
from kernel.writes.rate_limits import usages_of


class AgentSelfViewSet(ApiViewSet):
    @action(detail=False, url_path="self")
    @operation("getAgentSelf", callers={CredentialKind.AGENT}, response=SelfSerializer)
    def current(self, request: ApiRequest) -> Response:
        """Get the agent of the token, with its scopes and what is left of its limits."""
        agent = Agent.objects.select_related("account", "operator").get(pk=request.user.pk)
        limits = {usage.name: usage for usage in usages_of(agent.pk, Scope.values)}
        return Response(SelfSerializer({"agent": agent, "token": request.auth, "limits": limits}).data)
