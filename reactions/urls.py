from __future__ import annotations

from config.api.viewsets import router
from reactions.views import ReactionViewSet

routes = router()
routes.register("v1/reactions", ReactionViewSet, basename="reaction")
urlpatterns = routes.urls
