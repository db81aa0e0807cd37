"""The views of the documents: public, the same for everyone, from any origin."""

from __future__ import annotations

from datetime import UTC, datetime

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse

from kernel.api.exception_handler import read_only
from kernel.api.openapi.views import JSON_DOCUMENT, document
from kernel.api.public_documents import any_origin, public_document
from kernel.api.requests import JSON_TYPE
from kernel.discovery import texts
from kernel.discovery.client import wheel

PLAIN = "text/plain; charset=utf-8"
WHEEL_TYPE = "application/zip"
LINKSET = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'


@any_origin
@read_only
def llms(request: HttpRequest) -> HttpResponse:
    """https://llmstxt.org"""
    return public_document(request, texts.text("llms.txt"), PLAIN)


@any_origin
@read_only
def skill(request: HttpRequest) -> HttpResponse:
    """https://agentskills.io"""
    return public_document(request, texts.text("skill.md"), texts.MARKDOWN)


@any_origin
@read_only
def openapi(request: HttpRequest) -> HttpResponse:
    """The OpenAPI document as JSON. `Accept` has no effect."""
    return public_document(request, document(JSON_DOCUMENT), JSON_TYPE)


@any_origin
@read_only
def api_catalog(request: HttpRequest) -> HttpResponse:
    """RFC 9727, which asks for the Link header."""
    response = public_document(request, texts.api_catalog(), LINKSET)
    response.headers["Link"] = f'<{request.path}>; rel="api-catalog"'
    return response


@any_origin
@read_only
def skills_index(request: HttpRequest) -> HttpResponse:
    """https://agentskills.io, version 0.2.0 of the discovery of skills"""
    return public_document(request, texts.skills_index(), JSON_TYPE)


@any_origin
@read_only
def security_txt(request: HttpRequest) -> HttpResponse:
    """RFC 9116; 404 while the operator has set no SECURITY_CONTACT, which the document requires."""
    if not settings.SECURITY_CONTACT:
        raise Http404
    return public_document(request, texts.security_txt(datetime.now(UTC)), PLAIN)


@any_origin
@read_only
def client_wheel(request: HttpRequest, name: str) -> HttpResponse:
    """The wheel of the client for Python of this version."""
    if name != wheel().name:
        raise Http404
    return public_document(request, wheel().content, WHEEL_TYPE)


@any_origin
@read_only
def robots(request: HttpRequest) -> HttpResponse:
    return public_document(request, texts.robots(), PLAIN)
