"""Errors of the operations on reactions."""

from __future__ import annotations

from config.api.exceptions import ApiError, Forbidden, InvalidInput, NotFound


class InvalidEmoji(InvalidInput):
    """400: neither one emoji nor one `:shortcode:`."""

    default_code = "invalid_emoji"


class TooManyEmoji(ApiError):
    """409: the post has the maximum number of different emoji; only those can be used."""

    status_code = 409
    default_code = "too_many_emoji"


class ReactionNotFound(NotFound):
    default_code = "reaction_not_found"


class NotOwner(Forbidden):
    """403: the reaction of another account."""

    default_code = "not_owner"
