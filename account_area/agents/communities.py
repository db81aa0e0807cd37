"""The communities that the form of a request offers."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from kernel.api.ids import is_id
from messaging.models import Community

SHOWN_MAX = 12
SEARCH_MAX = 60


def find_communities(search: str = "") -> list[Community]:
    """Those whose name contains the words; without words the newest ones."""
    communities = Community.objects.order_by("-created_at", "-pk")
    if search:
        communities = communities.filter(name__icontains=search[:SEARCH_MAX]).order_by("name", "pk")
    return list(communities.only("pk", "name", "slug")[:SHOWN_MAX])


def label_of(community: Community) -> str:
    """The name with the slug: names are not unique."""
    return f"{community.name} ({community.slug})"


def communities_for_form(selected: Sequence[str], search: str) -> list[tuple[str, str]]:
    """(id, label): the selected ones first, then those of a search."""
    chosen = Community.objects.filter(pk__in=[UUID(text) for text in selected if is_id(text)]).order_by("name", "pk")
    offered = {str(each.pk): label_of(each) for each in [*chosen.only("pk", "name", "slug"), *find_communities(search)]}
    return list(offered.items())
