"""Which posts an export contains: SQL conditions about a message `m`, for one community, page or embed, or for all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from embeds.models import Embed
from kernel.api.ids import is_id
from messaging.models import Community, MovedPage, Page
from messaging.pages.page_ids import InvalidUrl, is_page_id, normalize
from messaging.posts.visibility import is_listed, is_visible

# The posts of the embed's community on the pages where its widget was used to write: whole threads, also with replies
# that were written by other ways.
OF_EMBED = """
(m.community_id = %(community_id)s OR m.embed_id = %(embed_id)s)
AND m.page_id IN (SELECT DISTINCT page_id FROM messaging_message WHERE embed_id = %(embed_id)s)
"""
# A post under a pending one is not public, but goes along with it; not so under a hidden one.
UNDER_HIDDEN = """
EXISTS (
    WITH RECURSIVE above AS (
        SELECT p.id, p.parent_id, p.status FROM messaging_message p WHERE p.id = m.parent_id
        UNION
        SELECT p.id, p.parent_id, p.status FROM messaging_message p JOIN above ON p.id = above.parent_id
    )
    SELECT FROM above WHERE status = 'hidden'
)
"""
PUBLIC = is_visible("m")
WITH_PENDING = f"""
({PUBLIC} OR (m.status = 'pending' OR {is_listed("m")}) AND NOT {UNDER_HIDDEN})
"""


class UnknownScope(Exception):
    """There is no such community, page or embed. The message says where to find the ids."""


@dataclass(frozen=True, slots=True)
class Scope:
    """`names`: what the header of an export says of it. `condition` has the parameters `values`."""

    names: Mapping[str, str]
    condition: str
    values: Mapping[str, Any] = field(default_factory=dict)
    with_pending: bool = False

    @property
    def where(self) -> str:
        return f"{self.condition} AND {WITH_PENDING if self.with_pending else PUBLIC}"

    @property
    def filename(self) -> str:
        """Of letters, digits and hyphens."""
        return "-".join(self.names.values())


EVERYTHING = Scope({"all": "posts"}, "true")


def of_community(community: Community, *, with_pending: bool = False) -> Scope:
    names = {"community": community.slug}
    return Scope(names, "m.community_id = %(community_id)s", {"community_id": community.pk}, with_pending)


def of_embed(embed: Embed, *, with_pending: bool = False) -> Scope:
    values = {"embed_id": embed.pk, "community_id": embed.community_id}
    return Scope({"embed": str(embed.pk)}, OF_EMBED, values, with_pending)


def community_called(text: str) -> Scope:
    """By id or slug. Raises UnknownScope, as the functions below."""
    named = {"pk": UUID(text)} if is_id(text) else {"slug": text}
    community = None if "\0" in text else Community.objects.filter(**named).first()
    if community is None:
        raise UnknownScope(f"No community has the id or slug {text!r}: GET /v1/communities lists them.")
    return of_community(community)


def page_called(text: str) -> Scope:
    """By page id or URL. An id under earlier rules names the page that has its posts."""
    page_id = text if is_page_id(text) else _page_id_of(text)
    page_id = MovedPage.objects.filter(old_id=page_id).values_list("page_id", flat=True).first() or page_id
    if not Page.objects.filter(pk=page_id).exists():
        raise UnknownScope(f"No page has the id or URL {text!r}: POST /v1/presence/normalize-url answers the id.")
    return Scope({"page": page_id}, "m.page_id = %(page_id)s", {"page_id": page_id})


def embed_called(text: str) -> Scope:
    """By id; also a deleted one, whose posts stay."""
    embed = Embed.objects.filter(pk=text).first() if is_id(text) else None
    if embed is None:
        raise UnknownScope(f"No embed has the id {text!r}: the page of the site under /account/sites/ shows it.")
    return of_embed(embed)


SCOPES: dict[str, Callable[[str], Scope]] = {
    "community": community_called,
    "page": page_called,
    "embed": embed_called,
}


def _page_id_of(url: str) -> str:
    try:
        return normalize(url).page_id
    except InvalidUrl as failure:
        hint = (
            f"{url!r} is neither the id nor a URL of a page: {failure}. POST /v1/presence/normalize-url answers the id."
        )
        raise UnknownScope(hint) from None
