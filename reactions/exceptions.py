"""Refusals of reactions."""

from __future__ import annotations

from config.api.exceptions import ApiError, Forbidden, InvalidInput, NotFound


class InvalidEmoji(InvalidInput):
    """400: neither one emoji nor one `:shortcode:`."""

    code = "invalid_emoji"


class TooManyEmoji(ApiError):
    """409: the post has as many different emoji as a post may have; those it has can still be chosen."""

    status = 409
    code = "too_many_emoji"


class ReactionNotFound(NotFound):
    code = "reaction_not_found"


class NotOwner(Forbidden):
    """403: somebody else's reaction."""

    code = "not_owner"
