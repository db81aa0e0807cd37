"""The hosts that a community proves by TXT records: what to enter, and what was found.

The widgets that show a community, other people's too, and how moderators end one.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from account_area.forms import AccountForm, sentence
from account_area.moderation import queries
from account_area.moderation.communities import frame
from account_area.moderation.forms import EndForm
from account_area.page import READ_METHODS, account_page
from account_area.people import person_of
from embeds import host_proofs
from embeds.domains import HOST_MAX
from embeds.exceptions import EmbedNotFound
from embeds.models import Embed, HostState
from embeds.services import end_embed
from kernel.api.exceptions import ApiError, InvalidInput, NotFound
from kernel.api.pagination import CursorPage

# While a look is waited for, the page is loaded again, also without scripts. Where no process can be started, it takes
# until the next housekeeping.
REFRESH_SECONDS = 3
REFRESH_FOR = timedelta(minutes=1)
ADDRESS_MAX = 2_048
STATES = {
    HostState.UNSEEN: _("The record was not looked for yet."),
    HostState.FOUND: _("The record was found."),
    HostState.NO_RECORD: _("There is no TXT record with this name. It may take some hours until a new one is seen."),
    HostState.OTHER_VALUES: _("The TXT records with this name have other values:"),
    HostState.NO_ANSWER: _("The name servers of the domain did not answer."),
}


class HostForm(AccountForm):
    host = forms.CharField(
        label=_("Host"),
        max_length=ADDRESS_MAX,
        widget=forms.TextInput(attrs={"dir": "ltr", "autocapitalize": "none", "spellcheck": "false"}),
        help_text=_("Such as blog.example. It covers www.blog.example too, and no other subdomain."),
    )

    def clean_host(self) -> str:
        """People paste addresses."""
        text: str = self.cleaned_data["host"]
        try:
            host = (urlsplit(text).hostname or "") if "://" in text else text
        except ValueError:
            host = ""
        if not 0 < len(host) <= HOST_MAX:
            raise forms.ValidationError(gettext("Enter a host such as blog.example."))
        return host


@account_page
def hosts(request: HttpRequest, slug: str) -> HttpResponse:
    if not settings.DOMAIN_CHECKS:
        raise NotFound
    community = queries.community_of(slug=slug, by=person_of(request))
    shared: dict[str, Any] = {"community_id": community.pk, "by": person_of(request)}
    action = request.POST.get("action", "")
    form = HostForm(request.POST if action == "add" else None)
    if request.method == "POST" and _changed(request, action, form, shared):
        return redirect(reverse("moderation-hosts", args=[slug]))
    listed = host_proofs.hosts_of(**shared)
    context = {"hosts": [(host, STATES[HostState(host.state)]) for host in listed], "form": form}
    response = render(request, "account_area/moderation/hosts.html", frame(community, "hosts") | context)
    since = timezone.now() - REFRESH_FOR
    if any(host.is_checking and host.asked_at is not None and host.asked_at > since for host in listed):
        response.headers["Refresh"] = str(REFRESH_SECONDS)
    return response


def _changed(request: HttpRequest, action: str, form: HostForm, shared: dict[str, Any]) -> bool:
    """Whether the page can be shown again: what was asked is done, or its refusal is a message."""
    if action == "add":
        return form.is_valid() and _added(form, shared)
    services: dict[str, Any] = {"check": host_proofs.ask_for_check, "remove": host_proofs.remove_host}
    if action not in services:
        raise NotFound
    try:
        services[action](host=request.POST.get("host", "")[:HOST_MAX], **shared)
    except ApiError as refusal:
        messages.error(request, sentence(refusal))
    return True


def _added(form: HostForm, shared: dict[str, Any]) -> bool:
    try:
        with transaction.atomic():
            host_proofs.add_host(host=form.cleaned_data["host"], **shared)
    except InvalidInput:
        form.add_error("host", gettext("Enter a host such as blog.example."))
    except ApiError as refusal:
        form.refuse(refusal)
    return not form.errors


@account_page(methods=READ_METHODS)
def widgets(request: HttpRequest, slug: str) -> HttpResponse:
    community = queries.community_of(slug=slug, by=person_of(request))
    sent: dict[str, Any] = {"limit": queries.LISTED_MAX, "community": community.pk}
    if request.GET.get("cursor"):
        sent["cursor"] = request.GET["cursor"]
    page = CursorPage.of("moderation-widgets", sent)
    embeds, older = page.paginate(Embed.objects.of_community(community.pk))
    context = {"embeds": embeds, "older": older}
    return render(request, "account_area/moderation/widgets.html", frame(community, "widgets") | context)


@account_page
def end(request: HttpRequest, slug: str, embed: UUID) -> HttpResponse:
    """Asks for a reason, and for a confirmation."""
    person = person_of(request)
    community = queries.community_of(slug=slug, by=person)
    ended = Embed.objects.of_community(community.pk).filter(pk=embed).first()
    if ended is None:
        raise EmbedNotFound
    back = reverse("moderation-widgets", args=[slug])
    form = EndForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        end_embed(community_id=community.pk, embed_id=embed, by=person, reason=form.cleaned_data["reason"])
        messages.success(request, gettext("The widget “%(name)s” is ended.") % {"name": ended.name})
        return redirect(back)
    context = {
        "heading": gettext("End the widget “%(name)s”?") % {"name": ended.name},
        "explanation": gettext(
            "It disappears from its pages at once, and its blocked words no longer hold. The posts stay in the "
            "community. This cannot be undone. To keep others from choosing the community, change its rules."
        ),
        "button": gettext("End the widget"),
        "back": back,
        "form": form,
        "danger": True,
    }
    return render(request, "account_area/confirm.html", context)
