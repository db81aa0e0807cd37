"""The search of posts by ids, handles and addresses."""

from __future__ import annotations

from django.db.models import Q

from config.api.ids import is_id
from messaging.page_ids import InvalidUrl, is_page_id, normalize


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
