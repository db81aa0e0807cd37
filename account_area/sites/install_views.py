"""The code of a site, whether its pages load it, and the check-up of a page."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from account_area.page import READ_METHODS, account_page
from account_area.sites.access import is_new, own_site, site_page
from account_area.sites.checks import SENTENCES, answer, content_policy, page_of, state_of
from account_area.sites.code_check import faults_of_code
from account_area.sites.fields import domain_entry
from account_area.sites.forms import AddressForm, CodeForm
from account_area.sites.queries import locked, sightings_of
from embeds.analytics.recent import visited
from embeds.checkup import Reason, refusal_of
from embeds.domains import OPAQUE, explain
from embeds.embed_code import embed_code
from embeds.models import Embed, Sighting
from embeds.serializers.inputs import EmbedChanges
from embeds.services import update_embed
from kernel.api.exceptions import InvalidInput
from kernel.api.serializers import validated
from kernel.writes.retries import retried


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
