"""Helpers of the tests of embeds. They call the services of the product."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db import connection

from embeds.analytics.ingest import add_event, path_of
from embeds.models import Embed, Sighting
from embeds.services import create_embed
from messaging.models import Account
from messaging.pages.page_ids import normalize
from tests.factories import CommunityFactory, PersonFactory

INSTANCES = "/api/embeds/instances"
EVENTS = "/api/embeds/analytics/events"
UNKNOWN_ID = "01890a5d-ac96-774b-bcce-b302099a8057"


def an_embed(owner: Account | None = None, **fields: Any) -> Embed:
    community_id = fields.pop("community_id", None) or CommunityFactory().pk
    blacklist = fields.pop("domain_blacklist", [])
    name = fields.pop("name", "Widget")
    return create_embed(
        owner=owner or PersonFactory(), name=name, community_id=community_id, domain_blacklist=blacklist, **fields
    )


def a_widget_on(host: str, **fields: Any) -> Embed:
    """An embed whose whitelist names the host, where it was loaded."""
    embed = an_embed(**{"domain_whitelist": [host]} | fields)
    Sighting.objects.create(embed_id=embed.pk, host=host, is_refused=False)
    return embed


def send(embed: Embed, event: str, at: datetime, *, path: str = "/", address: str = "192.0.2.1") -> None:
    """Store one event at the time `at`."""
    add_event(
        embed_id=embed.pk,
        day=at.date(),
        event=event,
        path=path_of(normalize(f"https://site.example{path}").normalized_url),
        address=address,
        user_agent="Mozilla/5.0 (Test)",
    )


def every_row() -> Iterator[str]:
    """Yield every row of the database as text."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        for (table,) in cursor.fetchall():
            cursor.execute(f'SELECT row_to_json(t)::text FROM "{table}" t')
            yield from (row for (row,) in cursor.fetchall())


def rows_of(table: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {table}")
        return int(cursor.fetchone()[0])
