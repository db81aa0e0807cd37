"""The search of posts by ids, handles, addresses and words. Each statement reads a bounded number of posts."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Q

from kernel.api.ids import is_id
from kernel.database.sql import fetch_all
from messaging.page_ids import InvalidUrl, is_page_id, normalize
from messaging.queries.search import EVERYTHING, MATCHES_MAX, find_matches
from messaging.queries.unpublished import ids_of_unpublished

# The newest posts whose whole text is read, of every status.
NEWEST_MAX = 5_000
IN_NEWEST = """
SELECT id FROM (SELECT id, content FROM messaging_message ORDER BY id DESC LIMIT %(limit)s) newest
WHERE strpos(lower(content), lower(%(text)s)) > 0
"""


def condition_for(term: str) -> Q | None:
    """The filter for an id, a handle or a URL; None for other text."""
    if is_id(term):
        return Q(pk=term) | Q(author=term)
    if term.startswith("@"):
        return Q(author__handle=term[1:].lower())
    if is_page_id(term):
        return Q(page=term)
    try:
        return Q(page=normalize(term).page_id) if "://" in term else None
    except InvalidUrl:
        return None


def ids_with(text: str) -> set[UUID]:
    """The posts with a text: the best published matches for its words, others, and the newest posts that contain it."""
    matches = find_matches(text=text, scope=EVERYTHING, after=None, limit=MATCHES_MAX)
    newest = fetch_all(IN_NEWEST, {"text": text, "limit": NEWEST_MAX})
    found = {match.message_id for match in matches} | {message_id for (message_id,) in newest}
    return found | ids_of_unpublished(text, limit=MATCHES_MAX)
