"""What the pages of sites read."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db.models import Q

from embeds.models import Embed, Sighting
from embeds.models.embed import EmbedQuerySet
from messaging.communities.moderators import embeddable_by
from messaging.models import Account, Community, Embedding, Moderator

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
