"""An embed as the source of a post or of an event: both come often, so it is one statement that is compiled once."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from config.api.ids import parse_id
from embeds import domains
from embeds.models import EmbedStatus
from messaging.errors import DomainNotAllowed, EmbedNotActive, EmbedNotFound

FIND = """
SELECT id, status, community_id, domain_whitelist, domain_blacklist FROM embeds_embed
WHERE id = %s AND deleted_at IS NULL
"""


@dataclass(frozen=True, slots=True)
class Source:
    id: UUID
    status: str
    community_id: UUID
    domain_whitelist: list[str]
    domain_blacklist: list[str]

    def require_host(self, host: str) -> None:
        """Raises DomainNotAllowed (403) for a host where the embed may not run."""
        if not domains.is_allowed(host, whitelist=self.domain_whitelist, blacklist=self.domain_blacklist):
            raise DomainNotAllowed


def active_source(embed_id: str) -> Source:
    """The embed with this id, as it was sent. Raises EmbedNotFound (404) or EmbedNotActive (403)."""
    with connection.cursor() as cursor:
        cursor.execute(FIND, [parse_id(embed_id, missing=EmbedNotFound)])
        row = cursor.fetchone()
    if row is None:
        raise EmbedNotFound
    source = Source(*row)
    if source.status != EmbedStatus.ACTIVE:
        raise EmbedNotActive(status=source.status)
    return source
