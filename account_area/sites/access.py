"""Which site a page is about."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from account_area.moderation.counts import NOTHING, waiting_for
from account_area.people import person_of
from embeds.models import Embed
from embeds.services import owned_embed

TABS: tuple[tuple[str, str | Promise], ...] = (
    ("site", _("Analytics")),
    ("site-posts", _("Posts")),
    ("site-install", _("Code and check")),
    ("site-look", _("Look")),
    ("site-pages", _("Pages")),
    ("site-words", _("Words")),
    ("site-settings", _("Settings")),
)


def own_site(request: HttpRequest, embed: UUID) -> Embed:
    """The signed-in person's site; raises EmbedNotFound or NotOwner, which are both a 404 page."""
    return owned_embed(embed_id=embed, owner=person_of(request))


def is_new(request: HttpRequest) -> bool:
    """Whether the page is a step of the creation of a site."""
    return request.GET.get("new") == "1"


def site_page(request: HttpRequest, name: str, site: Embed, context: dict[str, Any], **options: Any) -> HttpResponse:
    """Render a page of a site, with its tabs."""
    number = 0 if is_new(request) else _waiting(request, site)
    tabs = [
        (reverse(tab, args=[site.pk]), label, tab == name, number if tab == "site-posts" else 0) for tab, label in TABS
    ]
    shared = {"site": site, "tabs": tabs, "is_new": is_new(request)}
    template = f"account_area/sites/{name.removeprefix('site-') if name != 'site' else 'numbers'}.html"
    return render(request, template, shared | context, **options)


def _waiting(request: HttpRequest, site: Embed) -> int:
    """How many posts the person has to decide on."""
    return waiting_for(person_of(request), [site.community_id]).get(site.community_id, NOTHING).total
