from __future__ import annotations

from django.utils import timezone

from agents.models import Agent, Scope
from agents.records import self_record
from agents.serializers import SelfRecord
from config.api.callers import CallerKind
from config.api.limits import usages_of
from config.api.operations import operation
from config.api.responses import Response
from config.api.views import ApiRequest, ApiView


class SelfView(ApiView):
    @operation("getAgentSelf", callers={CallerKind.AGENT}, answer=SelfRecord)
    def get(self, request: ApiRequest) -> Response:
        """Who this agent token acts for, what it may do, and what is left of its hourly limits."""
        agent = Agent.objects.select_related("account", "operator").get(pk=request.caller.account.pk)
        usages = usages_of(agent.pk, Scope.values)
        return Response(self_record(agent, caller=request.caller, usages=usages, now=timezone.now()))
