"""Where readers of a permalink go on to: to the page of the post, at the address that its community's site has.

Nothing of what loads, events or posts say makes this address. A post names any page, and anybody may whitelist any
host, so its community must have proved the host, or a super admin must trust the embed.
"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from embeds import domains, path_patterns
from embeds.models import Embed, EmbedStatus, HostProof
from messaging.models import Moderator
from messaging.pages.permalinks import place_on_page

EMBEDS_MAX = 20


def place_of(*, message_id: UUID, community_id: UUID | None, page_url: str) -> str | None:
    """Return the address of the post on its page; None where readers do not go on by themselves."""
    if community_id is None:
        return None
    host, path = urlsplit(page_url).netloc, urlsplit(page_url).path or "/"
    for embed in _embeds(community_id, host):
        for spelled in _spelled(embed, host):
            if embed.allows_host(spelled) and path_patterns.explain(embed.page_rules, path).is_shown:
                scheme = "http" if domains.is_loopback(spelled) else "https"
                return place_on_page(page_url, message_id, f"{scheme}://{spelled}")
    return None


def _embeds(community_id: UUID, host: str) -> list[Embed]:
    """The oldest active embeds of the community whose whitelist names the host and that count.

    Where the host is proved, those of moderators do: others could bind embeds to the community as well.
    """
    naming = list(domains.naming_entries(host))
    if not naming:
        return []
    proved = HostProof.objects.proved().filter(community=community_id, host=domains.bare_host(host))
    moderators = Moderator.objects.filter(community=community_id, account=OuterRef("owner"))
    is_proved = Q(Exists(proved)) & (Q(Exists(moderators)) | Q(owner__is_superuser=True))
    embeds = Embed.objects.live().filter(community=community_id, status=EmbedStatus.ACTIVE)
    found = embeds.filter(domain_whitelist__overlap=naming).annotate(is_proved=is_proved)
    return list(
        found.filter(Q(is_proved=True) | Q(trusted_entries__overlap=naming)).order_by("created_at", "id")[:EMBEDS_MAX]
    )


def _spelled(embed: Embed, host: str) -> Iterator[str]:
    """The host and port as the entries of the whitelist spell it, of a trusted embed those that a super admin saw."""
    trusted = embed.trusted_entries or []
    for entry, spelled in domains.spellings(host, embed.domain_whitelist):
        is_plain = spelled.endswith(":80") and not domains.is_loopback(spelled)
        if (embed.is_proved or entry in trusted) and not is_plain and domains.is_host(spelled):  # type: ignore[attr-defined]
            yield spelled
