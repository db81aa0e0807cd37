"""What an embed adds to the rules of a post that is written through it (`x-service-embed-id`)."""

from __future__ import annotations

from django.conf import settings

from config.api.ids import parse_id
from embeds.models import Embed, EmbedStatus
from messaging.errors import CommunityMismatch, DomainNotAllowed, EmbedNotActive, EmbedNotFound
from messaging.rules import Draft, refuse_blocked


class EmbedRule:
    """The embed must be live, allow the page's domain and share the post's community; its word list applies as well."""

    def prepare(self, draft: Draft) -> None:
        """Refuse the source, or name it on the draft, and give a post without a community the embed's."""
        if draft.embed_id is None:
            return
        embed = _embed(draft.embed_id)
        if embed.status != EmbedStatus.ACTIVE:
            raise EmbedNotActive(status=embed.status)
        # The panel writes from the app's own origin; where the panel may be framed is its policy's business.
        if draft.origin != settings.APP_URL and not embed.allows_origin(draft.origin):
            raise DomainNotAllowed
        if draft.community_id not in (None, embed.community_id):
            raise CommunityMismatch(field="communityId", details="Not the community of the embed.")
        draft.source_embed = embed.pk
        # A reply goes where its parent is: a page's thread may hold posts of several communities.
        if not draft.is_reply:
            draft.community_id = embed.community_id

    def check(self, draft: Draft) -> None:
        if draft.source_embed is not None:
            words = Embed.objects.values_list("blocked_words", flat=True).filter(pk=draft.source_embed).first()
            refuse_blocked(draft, words or [])


def _embed(embed_id: str) -> Embed:
    columns = ("status", "community_id", "domain_whitelist", "domain_blacklist")
    embed = Embed.objects.live().only(*columns).filter(pk=parse_id(embed_id, missing=EmbedNotFound)).first()
    if embed is None:
        raise EmbedNotFound
    return embed
