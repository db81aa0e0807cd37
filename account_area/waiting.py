"""What waits for a person who moderates: in which communities, and where they decide on it."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse

from account_area.moderation.counts import Waiting, waiting_of
from embeds.models import Embed
from messaging.models import Account, Community

PLACES_MAX = 20


@dataclass(frozen=True, slots=True)
class Place:
    """A community in which posts wait. `path`: the list of its posts, in the first site of the person that has one."""

    name: str
    waiting: Waiting
    path: str


def places_of(account: Account) -> list[Place]:
    """At most PLACES_MAX, by name, in three queries; in one if nothing waits."""
    waiting = waiting_of(account, limit=PLACES_MAX)
    if not waiting:
        return []
    own = Embed.objects.live().owned_by(account.pk).filter(community__in=list(waiting)).only("name", "community_id")
    sites = {site.community_id: site for site in own.order_by("community", "created_at", "id").distinct("community")}
    return [_place(community, number, sites.get(community.pk)) for community, number in waiting.items()]


def _place(community: Community, waiting: Waiting, site: Embed | None) -> Place:
    if site is None:
        return Place(community.name, waiting, reverse("moderation", args=[community.slug]))
    return Place(site.name, waiting, reverse("site-posts", args=[site.pk]))
