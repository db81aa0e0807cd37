from __future__ import annotations

from kernel.api.viewsets import router
from moving.views import ImportedPostViewSet

routes = router()
routes.register("v1/imported", ImportedPostViewSet, basename="imported")
urlpatterns = routes.urls
