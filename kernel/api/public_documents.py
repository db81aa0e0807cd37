"""Responses with a document that is the same for every client, such as the OpenAPI document."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any, TypeVar

from django.http import HttpRequest, HttpResponse

from kernel.cache.rendering import matches_etag

MAX_AGE = "public, max-age=300"
View = TypeVar("View", bound=Callable[..., Any])


def any_origin(view: View) -> View:
    """Declare that web pages of any origin may read the documents of the view: preflights say so."""
    view.any_origin = True  # type: ignore[attr-defined]
    return view


def public_document(request: HttpRequest, body: bytes, content_type: str) -> HttpResponse:
    """The document with an ETag, for pages of any origin; 304 if the client has it."""
    etag = f'"{sha256(body).hexdigest()[:32]}"'
    headers = {"ETag": etag, "Cache-Control": MAX_AGE, "Access-Control-Allow-Origin": "*"}
    if matches_etag(request.headers.get("If-None-Match", ""), etag):
        return HttpResponse(status=304, headers=headers)
    return HttpResponse(body, content_type=content_type, headers=headers)
