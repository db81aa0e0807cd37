"""The entries of the navigation of every page, and which of them the page belongs to.

What waits for a person who moderates: in which communities, and where they decide on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import Promise, SimpleLazyObject
from django.utils.translation import gettext_lazy as _

from account_area.moderation.queries import Waiting, waiting_of
from embeds.models import Embed
from kernel.changes.unread import count_unread
from kernel.discovery.texts import legal_links
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


ROOT = "/account/"
INBOX = f"{ROOT}inbox/"


@dataclass(frozen=True, slots=True)
class Entry:
    path: str
    label: str | Promise


ENTRIES = (
    Entry(f"{ROOT}sites/", _("Sites")),
    Entry(f"{ROOT}communities/", _("Communities")),
    Entry(f"{ROOT}agents/", _("Agents")),
    Entry(INBOX, _("Inbox")),
    Entry(f"{ROOT}me/", _("Settings")),
)


def navigation(request: HttpRequest) -> dict[str, Any]:
    """Context processor: the entries, and links of the foot, for pages under `/account/` alone."""
    if not request.path_info.startswith(ROOT):
        return {}
    current = next((entry.path for entry in ENTRIES if request.path_info.startswith(entry.path)), "")
    return {
        "navigation": ENTRIES,
        "current_entry": current,
        "inbox_path": INBOX,
        "unread": _unread(request),
        "legal_links": legal_links(),
    }


def _unread(request: HttpRequest) -> Any:
    """The number of events that the person has not read, when a template first uses it."""
    return SimpleLazyObject(lambda: count_unread(request.user.pk) if request.user.is_authenticated else 0)
