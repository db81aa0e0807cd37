"""The page in the frame beside the look of a site: an article with the real loader."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import get_language
from django.views.decorators.clickjacking import xframe_options_sameorigin

from account_area.page import READ_METHODS, account_page, policy_text
from account_area.sites.access import own_site
from embeds.models import Embed
from embeds.schemes import addresses_of
from embeds.widget.demo import app_origin
from embeds.widget.locales import pick_language, words


@xframe_options_sameorigin
@account_page(methods=READ_METHODS)
def preview(request: HttpRequest, embed: UUID) -> HttpResponse:
    """A page of our own, so that neither the domains nor the rules of the site hide the widget on it."""
    site = own_site(request, embed)
    app = app_origin(request.get_host(), secure=request.is_secure())
    language = pick_language(get_language())
    context = {"site": site, "app": app, "language": language, "page_url": address_of(site)}
    response = render(request, "account_area/sites/preview.html", context | {"config": _config(site, language)})
    sources = f"'self' {app}"
    response.headers["Content-Security-Policy"] = policy_text(
        **{"script-src": sources, "connect-src": sources, "frame-src": app, "frame-ancestors": "'self'"}
    )
    return response


def address_of(site: Embed) -> str:
    """An address of the site: the page whose posts the preview shows."""
    host = next((entry for entry in site.domain_whitelist if not entry.startswith("*.")), "")
    if not host:
        return f"{settings.BASE_URL}/demo/"
    page = site.community_id, f"https://{host}/"
    return addresses_of([page])[page]


def _config(site: Embed, language: str) -> dict[str, Any]:
    """What the loader gets instead of the site's configuration."""
    return {
        "id": str(site.pk),
        "status": "active",
        "pageRules": {"type": "all", "patterns": []},
        "triggerConfig": site.trigger_config,
        "words": words(language)["loader"],
    }
