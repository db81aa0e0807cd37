"""Swagger UI and Redoc. Left alone they ask the internet for fonts, a logo and a verdict; here they may not."""

from __future__ import annotations

from typing import Any

from drf_spectacular.views import SpectacularRedocView, SpectacularSwaggerView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data:",
        "worker-src blob:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)


class LocalAssetsOnly(APIView):
    """Tells the browser to load nothing from elsewhere, whatever the scripts ask for."""

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        final = super().finalize_response(request, response, *args, **kwargs)
        final.headers["Content-Security-Policy"] = POLICY
        return final


class SwaggerView(LocalAssetsOnly, SpectacularSwaggerView):
    pass


class RedocView(LocalAssetsOnly, SpectacularRedocView):
    template_name = "api/redoc.html"
