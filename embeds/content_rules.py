"""The content rule of a message that is posted through an embed (`x-service-embed-id`)."""

from __future__ import annotations

from embeds.exceptions import DomainNotAllowed, EmbedNotActive, EmbedNotFound
from embeds.lookup import find_active_embed
from embeds.models import Embed
from embeds.widget.demo import panel_origins
from messaging.content_rules import Draft, refuse_blocked
from messaging.exceptions import CommunityMismatch


class EmbedRule:
    """Requires an active embed that allows the domain and has the community of a new thread; applies its word list."""

    errors = (EmbedNotFound, EmbedNotActive, DomainNotAllowed)

    def prepare(self, draft: Draft) -> None:
        """Set `source_embed` on the draft; a post without a community gets that of the embed.

        Raises EmbedNotFound (404), EmbedNotActive and DomainNotAllowed (403), CommunityMismatch (400).
        """
        if draft.embed_id is None:
            return
        snapshot = find_active_embed(draft.embed_id)
        # The panel posts from an origin of the app. Its Content-Security-Policy lists the sites that may frame it
        # (`embeds.widget.csp`).
        if draft.origin not in panel_origins():
            snapshot.require_origin(draft.origin)
        draft.source_embed = snapshot.id
        # A reply belongs to the community of its parent: a page may have messages of several communities.
        if draft.data["parent_id"] is None:
            if draft.community_id not in (None, snapshot.community_id):
                raise CommunityMismatch("Leave communityId out, or send that of the embed.", field="communityId")
            draft.community_id = snapshot.community_id

    def check(self, draft: Draft) -> None:
        if draft.source_embed is not None:
            words = Embed.objects.values_list("blocked_words", flat=True).filter(pk=draft.source_embed).first()
            refuse_blocked(draft, words or [])
