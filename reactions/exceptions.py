"""Refusals of the operations on reactions."""

from __future__ import annotations

from kernel.api.exceptions import ApiError, InvalidInput, NotFound


class InvalidEmoji(InvalidInput):
    default_code = "invalid_emoji"
    message = "Send exactly one emoji, or one :shortcode: of a-z, 0-9, _, + and -."
    cause = "`emoji` is neither one emoji nor one `:shortcode:`."
    remedy = "Send one emoji as it is typed, with or without a variation selector."
    example = {"field": "emoji"}


class TooManyEmoji(ApiError):
    status_code = 409
    default_code = "too_many_emoji"
    message = "Use an emoji that the post has already: it has {max} different ones, the most allowed."
    cause = "The post has the maximum number of different emoji."
    remedy = "GET /v1/reactions/{messageId} lists those that can be used, as the keys of `counts`."
    example = {"max": 100}


class ReactionNotFound(NotFound):
    default_code = "reaction_not_found"
    message = "Use the reactionId that POST /v1/reactions returned: no reaction has this id now."
    cause = "The reaction does not exist, was removed already, or its post is not public any more."
    remedy = "GET /v1/reactions/{messageId} lists the reactions of a post with their ids."
