"""The views of the widget's pages. None of them reads or writes posts: the panel uses the API.

The start page: with the demo, for readers, owners of sites, operators of agents, and who runs the service; without
it, about this service.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.middleware.gzip import GZipMiddleware
from django.shortcuts import render
from django.urls import reverse
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.decorators import decorator_from_middleware
from django.views.decorators.clickjacking import xframe_options_exempt

from embeds.models import Embed, EmbedStatus
from embeds.widget import assets, context
from embeds.widget.context import ANYWHERE, frame_ancestors, page, policy, with_streams
from embeds.widget.demo import DemoPage, demo_page
from embeds.widget.locales import LANGUAGES
from kernel import languages
from kernel.api.exception_handler import read_only
from kernel.api.ids import is_id
from kernel.api.public_documents import any_origin, public_document
from kernel.api.requests import JSON_TYPE, LINK, MARKDOWN_TYPE
from kernel.cache.rendering import to_json
from kernel.discovery import texts
from messaging.accounts import sessions
from messaging.models import Community

# How many communities the start page names.
COMMUNITIES_MAX = 12


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
        if settings.DEMO:
            site = demo_page(request.get_host(), secure=request.is_secure())
            response = render(
                request, "pages/start.html", _samples() | {"demo": site, "legal_links": texts.legal_links()}
            )
            _allow_widget(response, site)
        else:
            response = render(request, "pages/service.html", _service() | {"legal_links": texts.legal_links()})
    patch_vary_headers(response, ("Accept", "Accept-Language"))
    return response


def _service() -> dict[str, Any]:
    """What this service is, for the start page of one without the demo. One query."""
    newest = list(Community.objects.with_posts().order_by("-created_at", "-id")[: COMMUNITIES_MAX + 1])
    return {
        "name": settings.SERVICE_NAME,
        "host": urlsplit(settings.BASE_URL).netloc,
        "communities": newest[:COMMUNITIES_MAX],
        "more": len(newest) > COMMUNITIES_MAX,
        "registration_open": settings.REGISTRATION_OPEN,
        "community_creation": settings.COMMUNITY_CREATION,
        "edit_minutes": settings.EDIT_MINUTES,
        "for_agents": _for_agents(),
    }


def _for_agents() -> str:
    return f"Read {settings.BASE_URL}{reverse('skill')} and follow it."


def _samples() -> dict[str, Any]:
    """What to copy: a line for each reader, without anything to fill in."""
    return {"registration_open": settings.REGISTRATION_OPEN, "for_agents": _for_agents(), "run": "make run"}


LOADER_CACHE = "public, max-age=3600, stale-while-revalidate=86400"
DEMO_MODES, DEMO_THEMES = ("panel", "inline"), ("auto", "site", "light", "dark")
# The panel's page names its script and styles by their digests.
ASSET_CACHE = "public, max-age=31536000, immutable"


class WithoutPadding(GZipMiddleware):
    """Compression without random bytes, which would hide the length of a secret: the panel's page has none."""

    max_random_bytes = 0


gzip_page = decorator_from_middleware(WithoutPadding)


@read_only
def loader_script(request: HttpRequest) -> HttpResponse:
    return _asset_response(request, assets.loader(), LOADER_CACHE)


@read_only
def loader_theme(request: HttpRequest) -> HttpResponse:
    return _imported_by_page(_named_by_digest(request, assets.loader_theme()))


@read_only
def loader_links(request: HttpRequest) -> HttpResponse:
    return _imported_by_page(_named_by_digest(request, assets.loader_links()))


@read_only
def loader_accounts(request: HttpRequest) -> HttpResponse:
    return _imported_by_page(_named_by_digest(request, assets.loader_accounts()))


def _imported_by_page(response: HttpResponse) -> HttpResponse:
    """A module of another origin has to allow the page that imports it."""
    response.headers["Access-Control-Allow-Origin"] = "*"
    return response


@read_only
def panel_script(request: HttpRequest) -> HttpResponse:
    return _named_by_digest(request, assets.panel_script())


@read_only
def later_script(request: HttpRequest) -> HttpResponse:
    return _named_by_digest(request, assets.later_script())


@read_only
def moderation_script(request: HttpRequest, language: str) -> HttpResponse:
    if language not in LANGUAGES:
        raise Http404
    return _named_by_digest(request, assets.moderation_script(language))


@read_only
def markdown_script(request: HttpRequest) -> HttpResponse:
    return _named_by_digest(request, assets.markdown_script())


@read_only
def picker_script(request: HttpRequest) -> HttpResponse:
    return _named_by_digest(request, assets.picker_script())


@read_only
def emoji_names(request: HttpRequest, language: str) -> HttpResponse:
    if language not in LANGUAGES:
        raise Http404
    return _named_by_digest(request, assets.emoji_names(language))


@read_only
def panel_styles(request: HttpRequest) -> HttpResponse:
    return _named_by_digest(request, assets.panel_styles(context.scheme(request)))


@gzip_page
@read_only
@xframe_options_exempt
@page
def panel(request: HttpRequest) -> HttpResponse:
    """Render the panel for the frame that the loader creates. Its script reads the page's URL from the fragment.

    Of the cookie of a panel session, the page says only that there is one.
    """
    words = context.language(request) | context.form(request)
    embed = _active_embed(request.GET.get("serviceId", ""))
    if embed is None:
        response = render(request, "embed/unavailable.html", words, status=404)
        response.headers["Content-Security-Policy"] = policy(frame_ancestors=ANYWHERE)
        return response
    shown = context.panel(embed, words, has_session=sessions.has_cookie(request))
    response = render(request, "embed/panel.html", words | shown)
    ancestors = frame_ancestors(embed, request.GET.get("host", ""))
    response.headers["Content-Security-Policy"] = policy(frame_ancestors=ancestors, connect_src=with_streams())
    patch_vary_headers(response, ("Accept-Language", "Cookie"))
    # Opened in a tab, the panel still has to receive the message of its sign-in window.
    response.headers["Cross-Origin-Opener-Policy"] = "same-origin-allow-popups"
    return response


@read_only
@page
def sign_in(request: HttpRequest) -> HttpResponse:
    """Render the sign-in window that the panel opens."""
    words = context.language(request)
    data = context.sign_in(words["words"])
    response = render(request, "embed/sign_in.html", words | data | {"registration": settings.REGISTRATION_OPEN})
    # The opener is a frame inside a page of another origin; a stricter policy would cut `window.opener`.
    response.headers["Cross-Origin-Opener-Policy"] = "unsafe-none"
    return response


@read_only
@page
def demo(request: HttpRequest) -> HttpResponse:
    """Render an example site with a live embed from another origin."""
    site = demo_page(request.get_host(), secure=request.is_secure())
    choices = {"mode": _choice(request, "mode", DEMO_MODES), "theme": _choice(request, "theme", DEMO_THEMES)}
    response = render(request, "pages/demo.html", {"demo": site} | choices)
    _allow_widget(response, site)
    return response


def _allow_widget(response: HttpResponse, site: DemoPage | None) -> None:
    """Let a page load the widget of the demo, if there is one."""
    if site is not None:
        sources = f"'self' {site.app}"
        content_policy = policy(script_src=sources, connect_src=sources, frame_src=site.app)
        response.headers["Content-Security-Policy"] = content_policy
        # As on most sites. With `same-origin`, the sign-in window has no opener and explains that.
        response.headers["Cross-Origin-Opener-Policy"] = "unsafe-none"


def _choice(request: HttpRequest, name: str, choices: Sequence[str]) -> str:
    """Return what the query chooses; the first choice if that is none."""
    chosen = request.GET.get(name, "")
    return chosen if chosen in choices else choices[0]


def _named_by_digest(request: HttpRequest, asset: assets.Asset) -> HttpResponse:
    """A page of another release, during a rolling upgrade, names another digest: its browser must not store this."""
    return _asset_response(request, asset, ASSET_CACHE if request.GET.get("v") == asset.digest else "no-cache")


def _asset_response(request: HttpRequest, asset: assets.Asset, cache_control: str) -> HttpResponse:
    """Respond with the asset, gzipped if the browser accepts that."""
    gzipped = "gzip" in request.headers.get("Accept-Encoding", "")
    headers = {
        "Cache-Control": cache_control,
        "ETag": f'"{asset.digest}{"-gzip" if gzipped else ""}"',
        "Vary": "Accept-Encoding",
        "Cross-Origin-Resource-Policy": "cross-origin",
    }
    if request.headers.get("If-None-Match") == headers["ETag"]:
        return HttpResponse(status=304, headers=headers)
    if gzipped:
        headers["Content-Encoding"] = "gzip"
    body = asset.gzipped if gzipped else asset.plain
    return HttpResponse(body, content_type=asset.content_type, headers=headers)


def _active_embed(service_id: str) -> Embed | None:
    if not is_id(service_id):
        return None
    return Embed.objects.live().filter(pk=service_id, status=EmbedStatus.ACTIVE).first()
