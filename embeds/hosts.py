"""The sites of a community: what the embeds of its moderators say of the hosts of its pages."""

from __future__ import annotations

from collections.abc import Collection
from itertools import chain
from uuid import UUID

from django.db.models import Q, QuerySet

from embeds import domains
from embeds.models import Embed, EmbedStatus
from messaging.models import Moderator


def whitelisted(community_id: UUID) -> frozenset[str]:
    """The entries of the whitelists of all embeds together. An embed without a whitelist names no host."""
    return frozenset(chain.from_iterable(_own(community_id).values_list("domain_whitelist", flat=True)))


def is_named(host: str, entries: Collection[str]) -> bool:
    """Whether an entry matches the host, with its port unless that is the default, with or without `www.`.

    Normalised addresses of pages have no `www.`, so a widget on `www.example.com` belongs to pages of `example.com`.
    """
    return bool(entries) and any(domains.is_allowed(name, whitelist=entries, blacklist=()) for name in _names(host))


def _names(host: str) -> tuple[str, ...]:
    return (host,) if host == domains.OPAQUE else (host, f"www.{host}")


def _own(community_id: UUID) -> QuerySet[Embed]:
    """Not those of strangers, who may name any host, and not those that a super admin has disabled."""
    moderators = Moderator.objects.filter(community=community_id).values("account")
    owned = Q(owner__in=moderators) | Q(owner__is_superuser=True)
    embeds = Embed.objects.live().exclude(status=EmbedStatus.DISABLED)
    return embeds.filter(owned, community=community_id).order_by("pk")
