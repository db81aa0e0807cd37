from __future__ import annotations

from django.urls import path

from mcp_server.views import McpViewSet

urlpatterns = [path("mcp", McpViewSet.as_view({"post": "create"}), name="mcp")]
