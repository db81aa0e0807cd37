"""Finds the imported post that an anchor of an earlier comment system names, such as `#comment-501` of WordPress."""

from __future__ import annotations

from uuid import UUID

from kernel.database.sql import fetch_one
from messaging.pages.services import normalized
from messaging.posts.embed_views import find_shown
from messaging.posts.shown import is_visible

# What is before the id of the comment in an anchor, and of which formats. Those of Waline and Twikoo are the id alone.
ANCHORS = {
    "comment-": ["wordpress", "disqus"],
    "isso-": ["isso"],
    "remark42__comment-": ["remark42"],
    "commento-": ["commento"],
    "comentario-": ["comentario"],
    "atk-comment-": ["artalk"],
    "": ["waline", "twikoo"],
}
ANCHOR_MAX = 200
# The expression is that of the index `foreign_posts_by_id`: the address of the site may precede an id.
FIND = f"""
SELECT m.id FROM moving_importedpost imported JOIN messaging_message m ON m.id = imported.message_id
WHERE imported.community_id = %(community)s AND substring(imported.source_id, '[^ ]*$') = %(id)s
    AND imported.format = ANY(%(formats)s) AND m.page_id = %(page)s AND {is_visible("m")}
ORDER BY imported.id LIMIT 1
"""  # noqa: S608  built from constants


def find_post(*, embed_id: UUID, url: str, anchor: str) -> UUID | None:
    """The visible post of the embed's community on that page. Raises InvalidUrlError (400) and the `embed_errors`."""
    shown = find_shown(embed_id)
    prefix = next(each for each in ANCHORS if anchor.startswith(each))
    asked = {"community": shown.community_id, "id": anchor.removeprefix(prefix), "formats": ANCHORS[prefix]}
    row = fetch_one(FIND, asked | {"page": normalized(url).page_id})
    return row[0] if row else None
