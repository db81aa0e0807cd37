"""Loads an embed for posts, events and the loader, with one hand-written statement because these calls are frequent."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

import orjson

from embeds import domains
from embeds.exceptions import DomainNotAllowed, EmbedNotActive, EmbedNotFound
from embeds.models import EmbedStatus
from kernel.api.ids import parse_id
from kernel.database.sql import fetch_one

FIND = """
SELECT id, status, community_id, domain_whitelist, domain_blacklist, (clock_timestamp() AT TIME ZONE 'UTC')::date,
    sign_in, sign_in_url, page_rules, trigger_config
FROM embeds_embed
WHERE id = %s AND deleted_at IS NULL
"""


@dataclass(frozen=True, slots=True)
class EmbedSnapshot:
    """A read-only copy of an embed. `today` is the day (UTC) by PostgreSQL's clock."""

    id: UUID
    status: str
    community_id: UUID
    domain_whitelist: list[str]
    domain_blacklist: list[str]
    today: date
    sign_in: str
    sign_in_url: str
    page_rules: dict[str, Any]
    trigger_config: dict[str, Any]

    def require_host(self, host: str) -> None:
        """Raises DomainNotAllowed (403) for a host where the embed may not run."""
        if not domains.is_allowed(host, whitelist=self.domain_whitelist, blacklist=self.domain_blacklist):
            raise DomainNotAllowed

    def require_origin(self, origin: str | None) -> None:
        """The same for an Origin header. Without one, the client is not a browser and is allowed."""
        if origin is not None:
            self.require_host(domains.host_of_origin(origin))


def find_embed(embed_id: UUID) -> EmbedSnapshot:
    """Load an embed; raises EmbedNotFound (404)."""
    row = fetch_one(FIND, [embed_id])
    if row is None:
        raise EmbedNotFound
    # The last two columns are JSON and are returned as text.
    return EmbedSnapshot(*row[:-2], *map(orjson.loads, row[-2:]))


def find_active_embed(embed_id: str) -> EmbedSnapshot:
    """Load an embed by the id of a request. Raises EmbedNotFound (404) or EmbedNotActive (403)."""
    snapshot = find_embed(parse_id(embed_id, missing=EmbedNotFound))
    if snapshot.status != EmbedStatus.ACTIVE:
        raise EmbedNotActive(status=snapshot.status)
    return snapshot
