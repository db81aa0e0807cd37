"""The posts that have come of foreign ones in earlier imports."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple
from uuid import UUID

from kernel.database.sql import fetch_all
from messaging.pages.page_ids import InvalidUrl, normalize
from moving.imports.texts import source_id_of
from moving.models import Move

# A post may have been deleted for good by an undoing of another import; then it comes again.
KNOWN = """
SELECT imported.source_id, message.id, page.id, page.normalized_url FROM moving_importedpost imported
JOIN messaging_message message ON message.id = imported.message_id JOIN messaging_page page ON page.id = message.page_id
WHERE imported.community_id = %s AND imported.format = %s AND imported.source_id = ANY(%s::text[])
"""


class KnownPost(NamedTuple):
    id: UUID
    page_id: str
    url: str

    def is_on(self, page_id: str) -> bool:
        """Whether this is its page, also if the page got another id by earlier rules (`renormalize_pages`)."""
        if self.page_id == page_id:
            return True
        try:
            return normalize(self.url).page_id == page_id
        except InvalidUrl:
            return False


def known_posts(source_ids: Collection[str], *, move: Move, site: str = "") -> dict[str, KnownPost]:
    """By foreign id."""
    stored = {source_id_of(source_id, site=site): source_id for source_id in source_ids}
    rows = fetch_all(KNOWN, [move.community_id, move.format, list(stored)])
    return {stored[source_id]: KnownPost(*post) for source_id, *post in rows}
