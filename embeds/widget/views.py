"""The pages of the widget. They translate only: no page here reads or writes a post."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.clickjacking import xframe_options_exempt

from config.api.exception_handler import read_only
from config.api.ids import is_id
from embeds.models import Embed, EmbedStatus
from embeds.widget import context
from embeds.widget.csp import ANYWHERE, frame_ancestors, page, policy
from embeds.widget.demo import demo_page
from embeds.widget.loader import loader

LOADER_CACHE = "public, max-age=3600, stale-while-revalidate=86400"


@read_only
def loader_script(request: HttpRequest) -> HttpResponse:
    """The embed loader, gzipped where the browser takes it."""
    script = loader()
    zipped = "gzip" in request.headers.get("Accept-Encoding", "")
    headers = {
        "Cache-Control": LOADER_CACHE,
        "ETag": f'"{script.digest}{"-gzip" if zipped else ""}"',
        "Vary": "Accept-Encoding",
        "Cross-Origin-Resource-Policy": "cross-origin",
    }
    if request.headers.get("If-None-Match") == headers["ETag"]:
        return HttpResponse(status=304, headers=headers)
    if zipped:
        headers["Content-Encoding"] = "gzip"
    body = script.gzipped if zipped else script.plain
    return HttpResponse(body, content_type="text/javascript; charset=utf-8", headers=headers)


@read_only
@xframe_options_exempt
@page
def panel(request: HttpRequest) -> HttpResponse:
    """The thread of a page, for the frame that the loader makes; it reads the page's address from its fragment."""
    words = context.language(request)
    embed = _active_embed(request.GET.get("serviceId", ""))
    if embed is None:
        response = render(request, "embed/unavailable.html", words, status=404)
        response.headers["Content-Security-Policy"] = policy(frame_ancestors=ANYWHERE)
        return response
    response = render(request, "embed/panel.html", words | context.panel(embed, words["words"]))
    ancestors = frame_ancestors(embed, request.GET.get("host", ""))
    response.headers["Content-Security-Policy"] = policy(frame_ancestors=ancestors)
    response.headers["Vary"] = "Accept-Language"
    # Opened as a page of its own, it still has to hear from its sign-in window.
    response.headers["Cross-Origin-Opener-Policy"] = "same-origin-allow-popups"
    return response


@read_only
@page
def sign_in(request: HttpRequest) -> HttpResponse:
    """The window that signs people in, opened by the panel."""
    words = context.language(request)
    data = context.sign_in(words["words"])
    response = render(request, "embed/sign_in.html", words | data | {"registration": settings.REGISTRATION_OPEN})
    # Its opener is a frame within a page of another origin; a policy of its own would cut the two apart.
    response.headers["Cross-Origin-Opener-Policy"] = "unsafe-none"
    return response


@read_only
@page
def demo(request: HttpRequest) -> HttpResponse:
    """A page as a site might have it, with a live embed from another origin."""
    found = demo_page(request.get_host(), secure=request.is_secure())
    response = render(request, "pages/demo.html", {"demo": found})
    if found is not None:
        both = f"'self' {found.app}"
        content = policy(script_src=both, connect_src=both, frame_src=found.app)
        response.headers["Content-Security-Policy"] = content
        # As on most sites. One that sets `same-origin` cuts the widget's sign-in window off (the window says so).
        response.headers["Cross-Origin-Opener-Policy"] = "unsafe-none"
    return response


@read_only
@page
def start(request: HttpRequest) -> HttpResponse:
    """What is here."""
    return render(request, "pages/start.html", {"base_url": settings.BASE_URL, "app_url": settings.APP_URL})


def _active_embed(service_id: str) -> Embed | None:
    if not is_id(service_id):
        return None
    return Embed.objects.live().filter(pk=service_id, status=EmbedStatus.ACTIVE).first()
