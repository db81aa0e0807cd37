"""Refusals of embeds and of their management."""

from __future__ import annotations

from config.api.exceptions import Forbidden, NotFound


class EmbedDisabled(Forbidden):
    default_code = "embed_disabled"
    message = "Ask a super admin: they disabled this embed, and only they may enable it."
    cause = "A super admin disabled the embed."
    remedy = "Its other settings can still be changed."


class EmbedNotFound(NotFound):
    default_code = "embed_not_found"
    message = "Use the id of an existing embed: its owner finds it in the embed code, as data-service-id."
    cause = "The embed of the path, or of the header `x-service-embed-id`, does not exist or was deleted."
    remedy = "GET /api/embeds/instances lists your own. A post that is not sent from an embed needs no header."


class EmbedNotActive(Forbidden):
    """`status` is the status of the embed."""

    default_code = "embed_not_active"
    message = "Wait until the embed is active again: it is {status} now."
    cause = "The owner paused the embed, or a super admin disabled it."
    remedy = "The owner sets its status to `active` with PUT /api/embeds/instances/{id}."
    example = {"status": "paused"}


class DomainNotAllowed(Forbidden):
    default_code = "domain_not_allowed"
    message = "Write from a page that the embed allows: its owner has not allowed this domain."
    cause = "The domain of the page is not in the embed's whitelist, or is in its blacklist."
    remedy = "The owner of the embed adds the domain to `domainWhitelist`."
