"""Store one event with one statement that does not wait for the disk."""

from __future__ import annotations

from datetime import date
from urllib.parse import urlsplit
from uuid import UUID

from django.db import connection, transaction

from embeds import domains, sightings
from embeds.analytics.events import OTHER, slot_of
from embeds.analytics.salts import visitor_hash
from embeds.lookup import find_active_embed
from embeds.models.analytics import PATH_MAX
from kernel.api.exceptions import InvalidInput
from messaging.pages.page_ids import InvalidUrl, NormalizedUrl, normalize

# A crash of the database may lose the events of the last fraction of a second. Posts commit synchronously.
INSERT = """
WITH quick AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', TRUE))
INSERT INTO embeds_event (slot, day, embed_id, event, path, visitor)
SELECT %s, %s, %s, %s, %s, %s FROM quick
"""


def record_event(*, embed_id: str, event: str, page_url: str, address: str, user_agent: str) -> None:
    """Count an event on a page of the embed. The address, user agent and query string are not stored.

    Raises EmbedNotFound (404), EmbedNotActive and DomainNotAllowed (403), InvalidInput (400).
    """
    snapshot = find_active_embed(embed_id)
    page = _normalized(page_url)
    host, path = domains.host_of_url(page_url), path_of(page.normalized_url)
    snapshot.require_host(host)
    sightings.note(embed_id=snapshot.id, host=host, address=page_url, path=path)
    add_event(
        embed_id=snapshot.id,
        day=snapshot.today,
        event=event,
        path=path,
        address=address,
        user_agent=user_agent,
    )


# No savepoint inside the transaction of a request: this saves two round trips.
@transaction.atomic(savepoint=False)
def add_event(
    *,
    embed_id: UUID,
    day: date,
    event: str,
    path: str,
    address: str,
    user_agent: str,
) -> None:
    """Store an event of a day (UTC) of an existing embed, with a hash instead of the address and user agent."""
    visitor = visitor_hash(day=day, embed_id=embed_id, address=address, user_agent=user_agent)
    with connection.cursor() as cursor:
        cursor.execute(INSERT, [slot_of(day), day, embed_id, event, path, visitor])


def path_of(normalized_url: str) -> str:
    """The path of the URL of a page as events store it: `_other` if it has more than PATH_MAX characters."""
    path = urlsplit(normalized_url).path or "/"
    return path if len(path) <= PATH_MAX else OTHER


def _normalized(page_url: str) -> NormalizedUrl:
    try:
        return normalize(page_url)
    except InvalidUrl as failure:
        raise InvalidInput(f"Send another pageUrl: {failure}.", field="pageUrl") from None
