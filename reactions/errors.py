"""Refusals of reactions."""

from __future__ import annotations

from config.api.errors import Forbidden, InvalidInput, NotFound


class InvalidEmoji(InvalidInput):
    """400: neither one emoji nor one `:shortcode:`."""

    code = "invalid_emoji"


class ReactionNotFound(NotFound):
    code = "reaction_not_found"


class NotOwner(Forbidden):
    """403: somebody else's reaction."""

    code = "not_owner"
