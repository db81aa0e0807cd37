"""The widgets that show a community, other people's too, and how moderators end one."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from account_area.moderation import queries
from account_area.moderation.communities import frame
from account_area.moderation.forms import EndForm
from account_area.page import READ_METHODS, account_page
from account_area.people import person_of
from embeds.exceptions import EmbedNotFound
from embeds.models import Embed
from embeds.services import end_embed
from kernel.api.pagination import CursorPage


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
        messages.success(request, _("The widget “%(name)s” is ended.") % {"name": ended.name})
        return redirect(back)
    context = {
        "heading": _("End the widget “%(name)s”?") % {"name": ended.name},
        "explanation": _(
            "It disappears from its pages at once, and its blocked words no longer hold. The posts stay in the "
            "community. This cannot be undone. To keep others from choosing the community, change its rules."
        ),
        "button": _("End the widget"),
        "back": back,
        "form": form,
        "danger": True,
    }
    return render(request, "account_area/confirm.html", context)
