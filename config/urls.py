"""Every path of the service. Each app names its own; there are no trailing slashes, so that nothing redirects."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

from config.api.readers import DocumentView, RedocView, SwaggerView

urlpatterns = [
    path("", include("messaging.urls")),
    path("", include("agents.urls")),
    path("", include("reactions.urls")),
    path("", include("embeds.urls")),
    path("", include("embeds.pages.urls")),
    path("api/schema/", DocumentView.as_view(), name="schema"),
    path("api/docs/", SwaggerView.as_view(url_name="schema"), name="docs"),
    path("api/redoc/", RedocView.as_view(url_name="schema"), name="redoc"),
    path("admin/", admin.site.urls),
]

handler400 = "config.api.handler.bad_request"
handler403 = "config.api.handler.permission_denied"
handler404 = "config.api.handler.not_found"
handler500 = "config.api.handler.server_error"
