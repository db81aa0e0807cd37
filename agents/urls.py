from __future__ import annotations

from agents.draft_views import OwnAgentViewSet
from agents.views import AgentRequestViewSet, AgentSelfViewSet, AgentTokenViewSet, AgentViewSet
from kernel.api.viewsets import router

routes = router()
routes.register("v1/agent", AgentSelfViewSet, basename="agent-self")
routes.register("v1/me/agents", OwnAgentViewSet, basename="own-agent")
routes.register("v1/agents", AgentViewSet, basename="agent")
routes.register("v1/agent-tokens/requests", AgentRequestViewSet, basename="agent-request")
routes.register("v1/agent-tokens", AgentTokenViewSet, basename="agent-token")
urlpatterns = routes.urls
