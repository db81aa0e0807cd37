"""The list of one's sites, a new one, and its state: paused, deleted.

The page of a site's numbers, and the same numbers for a spreadsheet.

The page in the frame beside the look of a site: an article with the real loader.

The code of a site, whether its pages load it, and the check-up of a page.
"""

from __future__ import annotations

import csv
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.clickjacking import xframe_options_sameorigin

from account_area.forms import AccountForm
from account_area.moderation.queries import waiting_for
from account_area.page import READ_METHODS, account_page, policy_text
from account_area.people import person_of
from account_area.sites.checks import SENTENCES, answer, content_policy, faults_of_code, page_of, state_of
from account_area.sites.forms import AddressForm, CodeForm, NewSiteForm, StartedSiteForm, domain_entry
from account_area.sites.numbers import PERIODS, Numbers, chosen_period, day_rows, page_rows
from account_area.sites.queries import is_new, locked, own_site, sightings_by_site, sightings_of, site_page, sites_of
from embeds.analytics.summary import posts_by_day, visited
from embeds.checkup import Reason, refusal_of
from embeds.domains import OPAQUE, explain
from embeds.embed_code import embed_code
from embeds.models import Embed, EmbedStatus, Sighting
from embeds.schemes import addresses_of
from embeds.serializers.inputs import EmbedChanges
from embeds.services import delete_embed, update_embed
from embeds.widget.demo import app_origin
from embeds.widget.locales import pick_language, words
from kernel.api.exceptions import InvalidInput
from kernel.api.serializers import validated
from kernel.database.sql import database_now
from kernel.plots import Line, days_until, values_of
from kernel.writes.transaction import retried

BY_PAGE = "pages"


@account_page(methods=READ_METHODS)
def numbers(request: HttpRequest, embed: UUID) -> HttpResponse:
    site = own_site(request, embed)
    days = chosen_period(request.GET.get("days"))
    shown = Numbers(site, days=days, today=database_now().date())
    state = state_of(site, sightings_of(site.pk), is_visited=bool(visited([site.pk])))
    return site_page(request, "site", site, {"numbers": shown, "periods": PERIODS, "state": state})


@account_page(methods=READ_METHODS)
def table(request: HttpRequest, embed: UUID) -> HttpResponse:
    """The table by day, or by page with `?by=pages`, as CSV."""
    site = own_site(request, embed)
    summary = Numbers(site, days=chosen_period(request.GET.get("days")), today=database_now().date()).now
    is_by_page = request.GET.get("by") == BY_PAGE
    name = f"site-{site.pk}-{summary.first}-{summary.last}{'-pages' if is_by_page else ''}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    response = HttpResponse(content_type="text/csv; charset=utf-8", headers=headers)
    csv.writer(response).writerows(page_rows(summary) if is_by_page else day_rows(summary))
    return response


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
        "signIn": "service",
        "pageRules": {"type": "all", "patterns": []},
        "triggerConfig": site.trigger_config,
        "words": words(language)["loader"],
    }


@account_page
def install(request: HttpRequest, embed: UUID) -> HttpResponse:
    site = own_site(request, embed)
    seen = sightings_of(site.pk)
    address = AddressForm(request.GET if "address" in request.GET else None)
    code = CodeForm(request.POST if request.method == "POST" else None)
    context = {
        "code": embed_code(app_url=settings.APP_URL, embed_id=site.pk, is_inline=site.is_inline),
        "policy": content_policy(),
        "state": _state_of(site, seen),
        "refused": _refused(site, seen),
        "sightings": [(sighting, page_of(sighting)) for sighting in seen],
        "address_form": address,
        "answer": answer(site, address.cleaned_data["address"], seen) if address.is_valid() else None,
        "code_form": code,
        "faults": faults_of_code(code.cleaned_data["html"], site) if code.is_valid() else None,
    }
    return site_page(request, "site-install", site, context)


@account_page(methods=READ_METHODS)
def seen(request: HttpRequest, embed: UUID) -> HttpResponse:
    """The state of the installation, for the script that waits for the first visit."""
    site = own_site(request, embed)
    state, sentence = _state_of(site, sightings_of(site.pk))
    return JsonResponse({"state": state, "sentence": sentence})


@account_page(methods=["POST"])
def allow(request: HttpRequest, embed: UUID) -> HttpResponse:
    """Add a refused host to the domains of the site."""
    site = own_site(request, embed)
    try:
        entry = domain_entry(request.POST.get("host", ""))
    except ValidationError:
        raise InvalidInput("Send a host.", field="host") from None
    messages.add_message(request, *_allow(site, entry))
    step = "?new=1" if is_new(request) else ""
    return redirect(reverse("site-install", args=[site.pk]) + step)


@retried
@transaction.atomic
def _allow(site: Embed, entry: str) -> tuple[int, str]:
    """Add an entry, unless the lists, which may have changed since the page was opened, decide without it.

    Returns the level and the text of the message.
    """
    row = locked(site.pk)
    verdict = explain(entry, whitelist=row.domain_whitelist, blacklist=row.domain_blacklist)
    if verdict.entry and not verdict.is_allowed:
        return messages.ERROR, SENTENCES[Reason.BLACKLISTED] % {"host": entry, "rule": verdict.entry}
    if entry not in row.domain_whitelist:
        # An empty list allows every domain, and an entry would end that.
        if verdict.is_allowed:
            text = _("The widget is allowed on %(domain)s already: nothing was added. Reload your page.")
            return messages.INFO, text % {"domain": entry}
        changes = validated(EmbedChanges, {"domainWhitelist": [*row.domain_whitelist, entry]})
        update_embed(embed_id=row.pk, owner=row.owner, **changes)
    text = _("%(domain)s is one of the domains of the site now. Reload your page.")
    return messages.SUCCESS, text % {"domain": entry}


def _state_of(site: Embed, seen: list[Sighting]) -> tuple[str, str]:
    return state_of(site, seen, is_visited=bool(visited([site.pk])))


def _refused(site: Embed, seen: list[Sighting]) -> Sighting | None:
    """The host that was refused last because no entry names it, unless a host was seen after it."""
    if not seen or not seen[0].is_refused or seen[0].host == OPAQUE:
        return None
    return seen[0] if refusal_of(site, seen[0].host)[0] == Reason.NOT_WHITELISTED else None


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
