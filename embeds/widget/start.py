"""The start page: for readers, owners of sites, operators of agents, and who runs the service."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import translation
from django.utils.cache import patch_vary_headers

from embeds.embed_code import embed_code
from embeds.widget.csp import page
from kernel import languages
from kernel.api.exception_handler import read_only
from kernel.api.public_documents import any_origin, public_document
from kernel.api.responses import JSON_TYPE, LINK, MARKDOWN_TYPE
from kernel.cache.rendering import to_json
from kernel.discovery import texts

EXAMPLE_EMBED = "EMBED_ID"


@any_origin
@read_only
@page
def start(request: HttpRequest) -> HttpResponse:
    """Render the start page, or return its addresses as JSON or the text for agents to clients that prefer these."""
    preferred = request.get_preferred_type(["text/html", JSON_TYPE, MARKDOWN_TYPE])
    if preferred == JSON_TYPE:
        response = public_document(request, to_json(texts.addresses()), JSON_TYPE)
    elif preferred == MARKDOWN_TYPE:
        response = public_document(request, texts.text("llms.txt"), texts.MARKDOWN)
    else:
        response = _page(request)
    response.headers["Link"] = LINK
    patch_vary_headers(response, ("Accept",))
    return response


def _page(request: HttpRequest) -> HttpResponse:
    with translation.override(languages.of_request(request)):
        response = render(request, "pages/start.html", _samples())
    patch_vary_headers(response, ("Accept", "Accept-Language"))
    return response


def _samples() -> dict[str, str]:
    """What to copy, with the addresses of this service."""
    base, streams = settings.BASE_URL, settings.STREAM_URL
    return {
        "embed_code": embed_code(app_url=settings.APP_URL, embed_id=EXAMPLE_EMBED),
        "for_agents": f"Read {base}{reverse('skill')} and follow it.",
        "first_call": f"curl -H 'Authorization: Bearer AGENT_TOKEN' {base}/v1/agent/self",
        "live": f"curl -N '{streams}/v1/changes/stream'" if streams else "",
        "run": "make run",
    }
