"""The root URL configuration. Each app declares its own paths."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from kernel.api import error_pages
from kernel.api.exception_handler import read_only
from kernel.api.openapi.views import DocumentView, RedocView, SwaggerView
from kernel.api.public_documents import any_origin

# Pages that people open without the slash. Operations have no slash and never redirect.
PAGES = ("account", "admin", "demo", "docs/errors", "api/docs", "api/redoc", "api/schema")

urlpatterns = [
    path("", include("messaging.urls")),
    path("", include("agents.urls")),
    path("", include("reactions.urls")),
    path("", include("embeds.urls")),
    path("", include("mcp_server.urls")),
    path("", include("embeds.widget.urls")),
    path("", include("mails.urls")),
    path("", include("moving.urls")),
    path("", include("oauth.urls")),
    path("", include("kernel.discovery.urls")),
    path("api/schema/", any_origin(DocumentView.as_view()), name="schema"),
    path("api/docs/", SwaggerView.as_view(url_name="schema"), name="docs"),
    path("api/redoc/", RedocView.as_view(url_name="schema"), name="redoc"),
    path("docs/errors/", error_pages.index, name="errors"),
    path("docs/errors/<str:code>", error_pages.page, name="error"),
    path("account/", include("account_area.urls")),
    path("admin/", admin.site.urls),
    *(path(page, read_only(RedirectView.as_view(url=f"/{page}/"))) for page in PAGES),
]

handler400 = "kernel.api.exception_handler.bad_request"
handler403 = "kernel.api.exception_handler.permission_denied"
handler404 = "kernel.api.exception_handler.not_found"
handler500 = "kernel.api.exception_handler.server_error"
