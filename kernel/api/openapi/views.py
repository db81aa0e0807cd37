"""The OpenAPI document, and Swagger UI and ReDoc for it.

By default both load fonts, a logo and a validator from the internet; a Content-Security-Policy prevents that.
"""

from __future__ import annotations

import json
from functools import cache
from threading import Lock
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.utils.cache import patch_vary_headers
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.views import SpectacularAPIView, SpectacularRedocView, SpectacularSwaggerView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from kernel.api.public_documents import public_document
from kernel.cache.rendering import to_json

POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data:",
        "worker-src blob:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)


READ_METHODS = ["get", "head"]
JSON_DOCUMENT = "application/vnd.oai.openapi+json"
JSON_TYPES = (JSON_DOCUMENT, "application/json")
_generating = Lock()
RENDERERS = {renderer.media_type: renderer for renderer in SpectacularAPIView.renderer_classes}


def document(media_type: str) -> bytes:
    """The OpenAPI document. It is public and costs as much as a hundred responses, so it is generated once."""
    # The first generation of a process fails in one of two threads.
    with _generating:
        return rendered(media_type)


@cache
def rendered(media_type: str) -> bytes:
    if media_type in JSON_TYPES:
        return to_json(schema())
    text = RENDERERS[media_type]().render(schema(), renderer_context={})
    return text if isinstance(text, bytes) else text.encode()


@cache
def schema() -> Any:
    return SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]


def demo_token() -> str | None:
    """The token of the demo's agent, for a button; None without the demo, and on a service for others (https)."""
    file = settings.DATA_DIR / "demo.json"
    if not settings.DEMO or settings.HTTPS or not file.exists():
        return None
    token: str | None = json.loads(file.read_text(encoding="utf-8")).get("agentToken")
    return token


class DocumentView(SpectacularAPIView):
    """Negotiates the format (YAML or JSON); reads nothing else of the request."""

    http_method_names = READ_METHODS

    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        media_type = request.accepted_renderer.media_type
        response = public_document(request._request, document(media_type), media_type)
        patch_vary_headers(response, ("Accept",))
        return response


class LocalAssetsOnly(APIView):
    """Forbids the browser to load anything from other origins."""

    http_method_names = READ_METHODS

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        final = super().finalize_response(request, response, *args, **kwargs)
        final.headers["Content-Security-Policy"] = POLICY
        # It may contain the token of the demo.
        final.headers["Cache-Control"] = "no-store"
        return final

    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        response: Response = super().get(request, *args, **kwargs)  # type: ignore[misc]
        response.data["demo_token"] = demo_token()
        return response


class SwaggerView(LocalAssetsOnly, SpectacularSwaggerView):
    template_name = "api/swagger.html"


class RedocView(LocalAssetsOnly, SpectacularRedocView):
    template_name = "api/redoc.html"
