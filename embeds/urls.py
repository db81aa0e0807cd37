from __future__ import annotations

from embeds.host_views import HostViewSet
from embeds.site_accounts.views import SiteSecretViewSet, SiteSessionViewSet
from embeds.views import AnalyticsViewSet, ClientConfigViewSet, CommunityEmbedViewSet, EmbedConfigViewSet, EmbedViewSet
from kernel.api.viewsets import router

routes = router()
routes.register("api/embeds", ClientConfigViewSet, basename="embed-client-config")
routes.register("api/embeds/config", EmbedConfigViewSet, basename="embed-config")
routes.register("api/embeds/instances", EmbedViewSet, basename="embed")
routes.register("api/embeds/instances", SiteSecretViewSet, basename="site-secret")
routes.register("api/auth", SiteSessionViewSet, basename="site-session")
routes.register("api/embeds/analytics", AnalyticsViewSet, basename="embed-analytics")
routes.register("v1/moderation/communities", HostViewSet, basename="community-host")
routes.register("v1/moderation/communities", CommunityEmbedViewSet, basename="community-embed")
urlpatterns = routes.urls
