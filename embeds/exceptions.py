"""Errors of embeds and of their management."""

from __future__ import annotations

from config.api.exceptions import Forbidden, NotFound


class NotOwner(Forbidden):
    """403: the embed belongs to another account."""

    default_code = "not_owner"


class EmbedDisabled(Forbidden):
    """403: a super admin disabled the embed, and only a super admin may enable it."""

    default_code = "embed_disabled"


class EmbedNotFound(NotFound):
    """404: the embed of the path, or of `x-service-embed-id` on a write, does not exist."""

    default_code = "embed_not_found"


class EmbedNotActive(Forbidden):
    default_code = "embed_not_active"


class DomainNotAllowed(Forbidden):
    default_code = "domain_not_allowed"
