"""What an embed shows, for the readers of posts (see the setting EMBED_VIEWS)."""

from __future__ import annotations

from uuid import UUID

from embeds.exceptions import EmbedNotActive, EmbedNotFound
from embeds.models import EmbedStatus, Shows
from kernel.database.sql import fetch_one
from messaging.posts.shown import Shown

FIND = """
SELECT community_id, status, shows, domain_whitelist,
    EXISTS (SELECT FROM messaging_hiddenhere hidden WHERE hidden.community_id = embed.community_id)
    OR EXISTS (SELECT FROM messaging_ban ban WHERE ban.community_id = embed.community_id),
    EXISTS (SELECT FROM messaging_pin pin WHERE pin.community_id = embed.community_id)
FROM embeds_embed embed WHERE id = %s AND deleted_at IS NULL
"""


class EmbedViews:
    errors = (EmbedNotFound, EmbedNotActive)

    def find(self, embed_id: UUID) -> Shown:
        """Raises EmbedNotFound (404) and EmbedNotActive (403)."""
        row = fetch_one(FIND, [embed_id])
        if row is None:
            raise EmbedNotFound
        community_id, status, shows, whitelist, is_filtered, has_pins = row
        if status != EmbedStatus.ACTIVE:
            raise EmbedNotActive(status=status)
        everyone = shows == Shows.EVERYONE
        return Shown(community_id, everyone, is_filtered and everyone, has_pins, tuple(whitelist))
