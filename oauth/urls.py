from __future__ import annotations

from django.urls import path

from kernel.api.viewsets import router
from oauth.views import OAuthViewSet, ProgramViewSet, authorization_server, protected_resource

routes = router()
routes.register("oauth", OAuthViewSet, basename="oauth")
routes.register("v1/me/programs", ProgramViewSet, basename="program")
urlpatterns = [
    *routes.urls,
    path(".well-known/oauth-protected-resource", protected_resource),
    path(".well-known/oauth-protected-resource/mcp", protected_resource),
    path(".well-known/oauth-authorization-server", authorization_server),
]
