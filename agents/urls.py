from __future__ import annotations

from agents.views.public import AgentViewSet
from agents.views.requests import AgentRequestViewSet
from agents.views.self import AgentSelfViewSet
from agents.views.tokens import AgentTokenViewSet
from kernel.api.viewsets import router

routes = router()
routes.register("v1/agent", AgentSelfViewSet, basename="agent-self")
routes.register("v1/agents", AgentViewSet, basename="agent")
routes.register("v1/agent-tokens/requests", AgentRequestViewSet, basename="agent-request")
routes.register("v1/agent-tokens", AgentTokenViewSet, basename="agent-token")
urlpatterns = routes.urls
