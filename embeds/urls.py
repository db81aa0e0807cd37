from __future__ import annotations

from embeds.views.analytics import AnalyticsViewSet
from embeds.views.config import ClientConfigViewSet, EmbedConfigViewSet
from embeds.views.hosts import HostViewSet
from embeds.views.instances import EmbedViewSet
from embeds.views.moderation import CommunityEmbedViewSet
from kernel.api.viewsets import router

routes = router()
routes.register("api/embeds", ClientConfigViewSet, basename="embed-client-config")
routes.register("api/embeds/config", EmbedConfigViewSet, basename="embed-config")
routes.register("api/embeds/instances", EmbedViewSet, basename="embed")
routes.register("api/embeds/analytics", AnalyticsViewSet, basename="embed-analytics")
routes.register("v1/moderation/communities", HostViewSet, basename="community-host")
routes.register("v1/moderation/communities", CommunityEmbedViewSet, basename="community-embed")
urlpatterns = routes.urls
