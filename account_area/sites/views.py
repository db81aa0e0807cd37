"""The list of one's sites, a new one, and its state: paused, deleted."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from account_area.forms import AccountForm
from account_area.moderation.counts import waiting_for
from account_area.page import account_page
from account_area.people import person_of
from account_area.sites.access import own_site
from account_area.sites.checks import state_of
from account_area.sites.forms import NewSiteForm, StartedSiteForm
from account_area.sites.queries import sightings_by_site, sites_of
from embeds.analytics.recent import posts_by_day, visited
from embeds.models import EmbedStatus
from embeds.services import delete_embed, update_embed
from kernel.database.sql import database_now
from kernel.plots import Line, days_until, values_of

PAGE_SIZE = 20
SPARK_DAYS = 7


@account_page
def sites(request: HttpRequest) -> HttpResponse:
    page = Paginator(sites_of(person_of(request)), PAGE_SIZE).get_page(request.GET.get("page"))
    ids = [site.pk for site in page]
    days = days_until(database_now().date(), SPARK_DAYS)
    posts = posts_by_day(embed_ids=ids, first=days[0], last=days[-1])
    seen, counted = sightings_by_site(ids), visited(ids)
    waiting = waiting_for(person_of(request), [site.community_id for site in page])
    rows = [
        {
            "site": site,
            "spark": Line(values_of(posts.get(site.pk, {}), days)),
            "state": state_of(site, seen[site.pk], is_visited=site.pk in counted)[0],
            "seen": next((each for each in seen[site.pk] if not each.is_refused), None),
            "waiting": waiting.get(site.community_id),
        }
        for site in page
    ]
    return render(request, "account_area/sites/list.html", {"page": page, "rows": rows})


@account_page
def new_site(request: HttpRequest) -> HttpResponse:
    form = NewSiteForm(person_of(request), request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid() and (location := form.create()):
        return redirect(location)
    return render(request, "account_area/sites/new.html", {"form": form})


@account_page
def start(request: HttpRequest, embed: UUID) -> HttpResponse:
    """The first step again, of a site that it has created."""
    site = own_site(request, embed)
    form = StartedSiteForm(site, request.POST if request.method == "POST" else None)
    if form.is_bound and form.save(person_of(request)):
        return redirect(reverse("site-look", args=[site.pk]) + "?new=1")
    return render(request, "account_area/sites/new.html", {"form": form, "site": site})


@account_page(methods=["POST"])
def pause(request: HttpRequest, embed: UUID) -> HttpResponse:
    return _set_status(request, embed, EmbedStatus.PAUSED, _("Paused. The widget is gone from your pages."))


@account_page(methods=["POST"])
def resume(request: HttpRequest, embed: UUID) -> HttpResponse:
    return _set_status(request, embed, EmbedStatus.ACTIVE, _("Active again. The widget is on your pages."))


@account_page
def delete(request: HttpRequest, embed: UUID) -> HttpResponse:
    site = own_site(request, embed)
    if request.method == "POST":
        delete_embed(embed_id=site.pk, owner=person_of(request))
        messages.success(request, _("The site “%(name)s” is deleted.") % {"name": site.name})
        return redirect("sites")
    context = {
        "heading": _("Delete “%(name)s”?") % {"name": site.name},
        "explanation": _(
            "The widget disappears from your pages at once, and its analytics with it. The posts stay in the "
            "community, where readers and moderators still find them. This cannot be undone; to stop for a while, "
            "pause the site."
        ),
        "button": _("Delete the site"),
        "back": reverse("site-settings", args=[site.pk]),
        "form": AccountForm(),
        "danger": True,
    }
    return render(request, "account_area/confirm.html", context)


def _set_status(request: HttpRequest, embed: UUID, status: EmbedStatus, done: str) -> HttpResponse:
    site = own_site(request, embed)
    update_embed(embed_id=site.pk, owner=person_of(request), status=status.value)
    messages.success(request, done)
    return redirect("site", site.pk)
