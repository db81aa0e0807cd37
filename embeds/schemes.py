"""The scheme of pages: a normalised URL is https, which a site that was seen without TLS alone does not answer.

No stranger's data makes an address: a site is http only if widgets of moderators of the community were seen there
without TLS and, in the last 30 days, never with it. This is for those who moderate and write there, not for permalinks.
"""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from embeds.domains import host_of_url
from kernel.database.sql import fetch_all

Page = tuple[UUID | None, str]
PLAIN = """
SELECT embed.community_id, seen.host FROM embeds_sighting seen JOIN embeds_embed embed ON embed.id = seen.embed_id
JOIN messaging_moderator moderator
    ON moderator.community_id = embed.community_id AND moderator.account_id = embed.owner_id
WHERE embed.community_id = ANY(%s) AND embed.deleted_at IS NULL AND seen.host = ANY(%s) AND NOT seen.is_refused
GROUP BY embed.community_id, seen.host HAVING bool_and(coalesce(seen.is_plain, FALSE))
"""


def addresses_of(pages: Collection[Page]) -> dict[Page, str]:
    """The address at which each page opens, by the community of a post on it and its normalised URL. One query."""
    communities, hosts = {community for community, _url in pages}, {host_of_url(url) for _community, url in pages}
    plain = {(community, host) for community, host in fetch_all(PLAIN, [list(communities - {None}), list(hosts)])}
    return {page: with_scheme_of(page[1], is_plain=(page[0], host_of_url(page[1])) in plain) for page in pages}


def with_scheme_of(url: str, *, is_plain: bool | None) -> str:
    return f"http://{url.removeprefix('https://')}" if is_plain else url
