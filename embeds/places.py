"""Where readers of a permalink go on to: to the page of the post, at the address that its community's site has.

Nothing of what loads, events or posts say makes this address. A post names any page, and anybody may whitelist any
host, so its community must have proved the host, or a super admin must trust the embed.

The communities of a web page: those whose widget it has, so that a post without a header of an embed can name one.

They follow from the whitelists of embeds and from loads that anybody can make up. So this list only names communities:
no right, address or write may follow from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, OuterRef, Q

from embeds import domains, path_patterns
from embeds.models import LOST_AFTER, Embed, EmbedStatus, HostProof
from embeds.page_loads import STORED_DAYS
from kernel.database.sql import fetch_all
from messaging.models import Moderator
from messaging.pages.discussions import CURRENT_PAGE, IS_CLOSED_ON
from messaging.pages.page_ids import NormalizedUrl
from messaging.pages.permalinks import place_on_page
from messaging.pages.services import PageCommunity

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


COMMUNITIES_MAX = 20
# How many embeds of a host are looked at: strangers can load theirs with a made-up Origin. The first ones that were
# loaded there count, so that they cannot push out those of the site.
EMBEDS_OF_HOST_MAX = 500
WWW = "www."
# A page has the same id with and without `www.`, so a widget of either host is on it. Materialised, so that the planner
# cannot begin with all embeds.
FIND = f"""
WITH page (host, naming, refusing) AS (
    VALUES (%(host)s::text, %(naming)s::varchar[], %(refusing)s::varchar[]),
        (%(www_host)s::text, %(www_naming)s::varchar[], %(www_refusing)s::varchar[])
), loaded AS MATERIALIZED (
    SELECT sighting.embed_id, sighting.first_seen_at, page.naming, page.refusing, false AS is_proved
    FROM page
    CROSS JOIN LATERAL (
        SELECT embed_id, first_seen_at FROM embeds_sighting
        WHERE host = page.host AND NOT is_refused AND last_seen_at > now() - interval '{STORED_DAYS} days'
        ORDER BY first_seen_at LIMIT {EMBEDS_OF_HOST_MAX}
    ) AS sighting
    UNION ALL
    -- However many embeds of strangers were loaded before.
    SELECT sighting.embed_id, sighting.first_seen_at, page.naming, page.refusing, true
    FROM (
        SELECT community_id FROM embeds_hostproof
        WHERE %(checks)s AND host = %(bare_host)s AND found_at > now() - interval '{LOST_AFTER.days} days'
        ORDER BY proved_at, id LIMIT {COMMUNITIES_MAX}
    ) AS proof
    CROSS JOIN page
    CROSS JOIN LATERAL (
        SELECT embed.id FROM embeds_embed AS embed
        WHERE embed.community_id = proof.community_id AND embed.deleted_at IS NULL
        LIMIT {EMBEDS_OF_HOST_MAX}
    ) AS own
    JOIN embeds_sighting AS sighting ON sighting.embed_id = own.id AND sighting.host = page.host
    WHERE NOT sighting.is_refused AND sighting.last_seen_at > now() - interval '{STORED_DAYS} days'
)
SELECT id, name, slug, is_proved, {IS_CLOSED_ON.format(page="place.page_id")}
FROM (
    SELECT embed.community_id, bool_or(loaded.is_proved) AS is_proved, min(loaded.first_seen_at) AS first_seen_at
    FROM loaded
    JOIN embeds_embed AS embed ON embed.id = loaded.embed_id
    WHERE embed.deleted_at IS NULL AND embed.status = '{EmbedStatus.ACTIVE}'
        AND embed.domain_whitelist && loaded.naming AND NOT embed.domain_blacklist && loaded.refusing
    GROUP BY embed.community_id
    ORDER BY is_proved DESC, first_seen_at, embed.community_id
    LIMIT {COMMUNITIES_MAX}
) AS named
JOIN messaging_community ON messaging_community.id = named.community_id
CROSS JOIN (SELECT {CURRENT_PAGE} AS page_id) AS place
ORDER BY is_proved DESC, first_seen_at, id
"""  # noqa: S608  consists of constants


def communities_of_page(page: NormalizedUrl) -> list[PageCommunity]:
    """The communities of active embeds whose whitelist names the page's host and that were loaded there, at most 20.

    An embed without a whitelist names no host. The community whose widget was loaded first is the first one. Those that
    have proved the host are alone.
    """
    host = domains.host_of_url(page.normalized_url)
    if not domains.entries_of(host):
        # Such as `a*b.example`, which browsers take and no entry can name.
        return []
    rows = fetch_all(FIND, _values(host, page.page_id))
    found = [PageCommunity(*row) for row in rows]
    return [community for community in found if community.proved] or found


def _values(host: str, page_id: str) -> dict[str, Any]:
    proof = {"checks": settings.DOMAIN_CHECKS, "bare_host": domains.bare_host(host)}
    return {"page": page_id} | proof | _parameters(host) | _parameters(WWW + host, prefix="www_")


def _parameters(host: str, prefix: str = "") -> dict[str, str | list[str]]:
    """A host, the entries of a whitelist that name it, and those of a blacklist that refuse it.

    A whitelist names a host also by the other of its two forms, with `www.` and without.
    """
    entries = domains.entries_of(host)
    naming = [*entries, *(WWW + entry for entry in entries if not entry.startswith((WWW, "*.")))]
    return {f"{prefix}host": host, f"{prefix}naming": naming, f"{prefix}refusing": entries}
