from __future__ import annotations

from kernel.api.viewsets import router
from reactions.views import OwnReactionViewSet, ReactionViewSet

routes = router()
routes.register("v1/reactions", ReactionViewSet, basename="reaction")
routes.register("v1/me/reactions", OwnReactionViewSet, basename="own-reaction")
urlpatterns = routes.urls
