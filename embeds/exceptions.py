"""Errors of embeds and of their management."""

from __future__ import annotations

from config.api.exceptions import Forbidden, NotFound


class NotOwner(Forbidden):
    """403: the embed belongs to another account."""

    code = "not_owner"


class EmbedDisabled(Forbidden):
    """403: a super admin disabled the embed, and only a super admin may enable it."""

    code = "embed_disabled"


class EmbedNotFound(NotFound):
    """404: the embed of the path, or of `x-service-embed-id` on a write, does not exist."""

    code = "embed_not_found"


class EmbedNotActive(Forbidden):
    code = "embed_not_active"


class DomainNotAllowed(Forbidden):
    code = "domain_not_allowed"
