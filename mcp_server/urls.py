from __future__ import annotations

from django.urls import path

from mcp_server.views import McpViewSet, server_card

urlpatterns = [
    path("mcp", McpViewSet.as_view({"post": "create"}), name="mcp"),
    path(".well-known/mcp.json", server_card, name="mcp-card"),
]
