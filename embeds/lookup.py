"""An embed as the source of posts and events, and as the loader reads it: one written statement, for it runs often."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

import orjson

from config.api.ids import parse_id
from config.database.sql import fetch_one
from embeds import domains
from embeds.exceptions import DomainNotAllowed, EmbedNotActive, EmbedNotFound
from embeds.models import EmbedStatus

FIND = """
SELECT id, status, community_id, domain_whitelist, domain_blacklist, (clock_timestamp() AT TIME ZONE 'UTC')::date,
    page_rules, trigger_config
FROM embeds_embed
WHERE id = %s AND deleted_at IS NULL
"""


@dataclass(frozen=True, slots=True)
class EmbedSnapshot:
    """`today` is the day (UTC) by PostgreSQL's clock."""

    id: UUID
    status: str
    community_id: UUID
    domain_whitelist: list[str]
    domain_blacklist: list[str]
    today: date
    page_rules: dict[str, Any]
    trigger_config: dict[str, Any]

    def require_host(self, host: str) -> None:
        """Raises DomainNotAllowed (403) for a host where the embed may not run."""
        if not domains.is_allowed(host, whitelist=self.domain_whitelist, blacklist=self.domain_blacklist):
            raise DomainNotAllowed

    def require_origin(self, origin: str | None) -> None:
        """The same for an Origin header. Without one it is no browser that asks: a server or a command line may."""
        if origin is not None:
            self.require_host(domains.host_of_origin(origin))


def find_embed(embed_id: UUID) -> EmbedSnapshot:
    """Raises EmbedNotFound (404)."""
    row = fetch_one(FIND, [embed_id])
    if row is None:
        raise EmbedNotFound
    # JSON columns, the last two, come as text.
    return EmbedSnapshot(*row[:-2], *map(orjson.loads, row[-2:]))


def find_active_embed(embed_id: str) -> EmbedSnapshot:
    """The embed with this id, as it was sent. Raises EmbedNotFound (404) or EmbedNotActive (403)."""
    snapshot = find_embed(parse_id(embed_id, missing=EmbedNotFound))
    if snapshot.status != EmbedStatus.ACTIVE:
        raise EmbedNotActive(status=snapshot.status)
    return snapshot
