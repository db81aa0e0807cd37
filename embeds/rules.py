"""What an embed adds to the rules of a post that is written through it (`x-service-embed-id`)."""

from __future__ import annotations

from django.conf import settings

from embeds.models import Embed
from embeds.sources import active_source
from messaging.errors import CommunityMismatch
from messaging.rules import Draft, refuse_blocked


class EmbedRule:
    """The embed must be live, allow the page's domain and share a new thread's community; its word list applies too."""

    def prepare(self, draft: Draft) -> None:
        """Refuse the source, or name it on the draft, and give a post without a community the embed's."""
        if draft.embed_id is None:
            return
        source = active_source(draft.embed_id)
        # The panel writes from the app's own origin, and who may hold the panel is told to browsers with it
        # (`embeds.pages.policies`).
        if draft.origin != settings.APP_URL:
            source.require_origin(draft.origin)
        draft.source_embed = source.id
        # A reply belongs to its parent's community, not the embed's: a page may hold posts of several.
        if draft.parent_id is None:
            if draft.community_id not in (None, source.community_id):
                raise CommunityMismatch(field="communityId", details="Not the community of the embed.")
            draft.community_id = source.community_id

    def check(self, draft: Draft) -> None:
        if draft.source_embed is not None:
            words = Embed.objects.values_list("blocked_words", flat=True).filter(pk=draft.source_embed).first()
            refuse_blocked(draft, words or [])
