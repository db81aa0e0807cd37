"""What the pages of sites read.

Which site a page is about.

The community of a site in a form: named by its address (slug) or its name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from account_area.moderation.queries import NOTHING, waiting_for
from account_area.people import person_of
from embeds.models import Embed, EmbedQuerySet, Sighting
from embeds.services import owned_embed
from messaging.communities.moderators import embeddable_by
from messaging.models import Account, Community, Embedding, Moderator
from messaging.models.community import NAME_MAX

TABS: tuple[tuple[str, str | Promise], ...] = (
    ("site", _("Analytics")),
    ("site-posts", _("Posts")),
    ("site-install", _("Code and check")),
    ("site-look", _("Look")),
    ("site-pages", _("Pages")),
    ("site-words", _("Words")),
    ("site-accounts", _("Accounts")),
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


SUGGESTIONS_MAX = 50
# A name may be that of several communities; more than one is as good as many.
SAME_NAME_MAX = 2


def sites_of(owner: Account) -> EmbedQuerySet:
    """The sites of a person, newest first."""
    return Embed.objects.live().owned_by(owner.pk).select_related("community").order_by("-created_at", "-id")


def has_other_sites(site: Embed) -> bool:
    """Whether its community has another site, also of another person."""
    return Embed.objects.live().filter(community=site.community_id).exclude(pk=site.pk).exists()


def locked(embed_id: UUID) -> Embed:
    """The site's row, until the end of the transaction.

    Without its community: after a wait for a transaction that has changed it, the row would match no joined one.
    """
    return Embed.objects.select_for_update().get(pk=embed_id)


def sightings_of(embed_id: UUID) -> list[Sighting]:
    """The hosts of a site, the last seen first: at most twice `sightings.HOSTS_MAX`."""
    return sightings_by_site([embed_id])[embed_id]


def sightings_by_site(embed_ids: Sequence[UUID]) -> dict[UUID, list[Sighting]]:
    """The hosts of sites, as those of one."""
    found: dict[UUID, list[Sighting]] = {embed_id: [] for embed_id in embed_ids}
    for row in Sighting.objects.filter(embed_id__in=embed_ids).order_by("-last_seen_at", "host"):
        found[row.embed_id].append(row)
    return found


def communities_called(text: str, *, by: Account) -> list[Community]:
    """At most two with this slug or name; if some have exactly the slug or are moderated by the account, of these.

    One of which both is true is meant alone. Of other namesakes, those that the account may choose are meant.
    """
    called = Community.objects.filter(Q(slug=text.lower()) | Q(name=text)).order_by("pk")
    own = called.filter(moderators__account=by)
    meant = called.filter(Q(slug=text) | Q(moderators__account=by)).distinct()
    for found in (own.filter(slug=text), meant, called.filter(embeddable_by(by)), called):
        if communities := list(found[:SAME_NAME_MAX]):
            return communities
    return []


def may_embed(account: Account, community: Community) -> bool:
    return Community.objects.filter(embeddable_by(account), pk=community.pk).exists()


def suggested_communities(account: Account) -> list[Community]:
    """The communities of which the account is a moderator, then the newest others that it may choose."""
    own = [row.community for row in Moderator.objects.filter(account=account).select_related("community")]
    others = Community.objects.all() if account.is_superuser else Community.objects.filter(embedding=Embedding.OPEN)
    newest = others.order_by("-created_at", "-id")[:SUGGESTIONS_MAX]
    return list(dict.fromkeys([*own, *newest]))[:SUGGESTIONS_MAX]


class CommunityInput(forms.TextInput):
    """A text with suggestions; other communities can be typed."""

    template_name = "account_area/sites/community_input.html"
    suggestions: Sequence[Community] = ()

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        context = super().get_context(name, value, attrs)
        context["suggestions"] = self.suggestions
        context["widget"]["attrs"]["list"] = f"{context['widget']['attrs'].get('id')}_list"
        return context


class CommunityField(forms.CharField):
    """Cleans to the slug of a community. `community` is the one that was found."""

    community: Community | None = None
    present: Community | None = None
    account: Account

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=NAME_MAX, widget=CommunityInput(), label=_("Community"), **options)

    def suggest_for(self, account: Account, *, present: Community | None = None) -> None:
        """Offer the communities that the account moderates, then others that are open. Of one name, its own is meant.

        `present`: what the form is filled with, which its slug always means.
        """
        self.account, self.present = account, present
        self.widget.suggestions = suggested_communities(account)

    def clean(self, value: Any) -> str:
        text = super().clean(value)
        if not text:
            return ""
        present = [self.present] if self.present and text == self.present.slug else []
        found = present or communities_called(text, by=self.account)
        if not found:
            raise ValidationError(_("There is no such community."))
        if len(found) > 1:
            raise ValidationError(_("Several communities have this name. Choose one of the list."))
        self.community = found[0]
        if self.community != self.present and not may_embed(self.account, self.community):
            text = _("Only its moderators may choose “%(name)s”. Ask one to add you, or choose another community.")
            raise ValidationError(text, params={"name": self.community.name})
        return self.community.slug
