"""Refusals of embeds and their management."""

from __future__ import annotations

from config.api.exceptions import Forbidden, NotFound


class NotOwner(Forbidden):
    """403: the embed is another person's."""

    code = "not_owner"


class EmbedDisabled(Forbidden):
    """403: a super admin disabled the embed; only a super admin lifts that."""

    code = "embed_disabled"


class EmbedNotFound(NotFound):
    """404: no such embed; of a write, the `x-service-embed-id` names none."""

    code = "embed_not_found"


class EmbedNotActive(Forbidden):
    code = "embed_not_active"


class DomainNotAllowed(Forbidden):
    code = "domain_not_allowed"
