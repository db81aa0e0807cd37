from __future__ import annotations

from kernel.api.viewsets import router
from oauth.views import OAuthViewSet

routes = router()
routes.register("oauth", OAuthViewSet, basename="oauth")
urlpatterns = routes.urls
