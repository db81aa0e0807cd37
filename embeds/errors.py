"""Refusals of embeds and their management."""

from __future__ import annotations

from config.api.errors import Forbidden


class NotOwner(Forbidden):
    """403: the embed is another person's."""

    code = "not_owner"


class EmbedDisabled(Forbidden):
    """403: a super admin disabled the embed; only a super admin lifts that."""

    code = "embed_disabled"
