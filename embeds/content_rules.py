"""Content rules of embeds: of the one that a message is posted through, and the word lists of all of a community."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

import orjson

from embeds import domains
from embeds.exceptions import DomainNotAllowed, EmbedNotActive, EmbedNotFound
from embeds.lookup import find_active_embed
from embeds.widget.demo import panel_origins
from kernel.database.sql import fetch_all
from messaging.communities.content_rules import Column, Draft, refuse_blocked
from messaging.posts.exceptions import CommunityMismatch

# Word lists of embeds that a post is compared with. Those of moderators come first: no number of other people's embeds
# ends theirs.
LISTS_MAX = 100
IS_MODERATOR = """EXISTS (
    SELECT FROM messaging_moderator moderator
    WHERE moderator.community_id = embed.community_id AND moderator.account_id = embed.owner_id
)"""
# Where a community has moderators, others who may choose it for an embed cannot forbid words there: with those of every
# day they would silence it. Where it has none, nobody else could forbid any.
MAY_FORBID = f"""(
    {IS_MODERATOR}
    OR EXISTS (SELECT FROM messaging_account owner WHERE owner.id = embed.owner_id AND owner.is_superuser)
    OR NOT EXISTS (SELECT FROM messaging_moderator other WHERE other.community_id = embed.community_id)
)"""  # noqa: S608  constants
COLUMN = "words_of_embeds"
OF_SOURCE = """
SELECT blocked_words FROM embeds_embed WHERE id = %(source_embed)s AND deleted_at IS NULL AND status <> 'disabled'
"""
# The word lists for a post of a community on a page, as JSON because their lengths differ. It is part of the query that
# reads the community, so a post needs no further one. It is hand-written as the other statements of each post are.
OF_COMMUNITY = f"""(
SELECT array_agg(array_to_json(list.blocked_words)::text) FROM (
    ({OF_SOURCE})
    UNION ALL
    (
        SELECT embed.blocked_words FROM embeds_embed embed
        WHERE embed.community_id = messaging_community.id AND embed.deleted_at IS NULL AND embed.blocked_words <> '{{}}'
            AND embed.status <> 'disabled' AND embed.id IS DISTINCT FROM %(source_embed)s
            AND (embed.domain_whitelist = '{{}}' OR embed.domain_whitelist && %(entries)s::varchar[])
            AND {MAY_FORBID}
        ORDER BY {IS_MODERATOR} DESC, embed.created_at, embed.id
        LIMIT {LISTS_MAX}
    )
) list
)"""  # noqa: S608  built from constants


class EmbedRule:
    """Requires an active embed that allows the domain and has the community of a new thread; applies word lists.

    The word list of an embed holds for every post of its community on a page that its whitelist names, or on any page
    if that is empty, through the embed or not, also while it is paused. In a community with moderators, these are the
    embeds of moderators and super admins. The list of the embed that a post comes from holds on every page,
    also one of a stranger. Those of deleted embeds, and of embeds that a super admin has disabled, hold nowhere.
    """

    errors = (EmbedNotFound, EmbedNotActive, DomainNotAllowed)

    def prepare(self, draft: Draft) -> None:
        """Set `source_embed` on the draft; a post without a community gets that of the embed.

        Raises EmbedNotFound (404), EmbedNotActive and DomainNotAllowed (403), CommunityMismatch (400).
        """
        if draft.embed_id is None:
            return
        snapshot = find_active_embed(draft.embed_id)
        # The panel posts from an origin of the app. Its Content-Security-Policy lists the sites that may frame it
        # (`embeds.widget.context`).
        if draft.origin not in panel_origins():
            snapshot.require_origin(draft.origin)
        draft.source_embed = snapshot.id
        # A reply belongs to the community of its parent: a page may have messages of several communities.
        if draft.data["parent_id"] is None:
            if draft.community_id not in (None, snapshot.community_id):
                raise CommunityMismatch("Leave communityId out, or send that of the embed.", field="communityId")
            draft.community_id = snapshot.community_id

    def columns(self, *, page_url: str | None, source_embed: UUID | None) -> Sequence[Column]:
        entries = domains.entries_of_page(page_url) if page_url else ()
        return [Column(COLUMN, OF_COMMUNITY, {"source_embed": source_embed, "entries": list(entries)})]

    def check(self, draft: Draft) -> None:
        """Raises ContentBlocked (422)."""
        for words in _word_lists(draft):
            refuse_blocked(draft, words)


def _word_lists(draft: Draft) -> Iterable[list[str]]:
    if draft.community is not None:
        return map(orjson.loads, getattr(draft.community, COLUMN) or ())
    if draft.source_embed is not None:
        return (words for (words,) in fetch_all(OF_SOURCE, {"source_embed": draft.source_embed}))
    return ()
