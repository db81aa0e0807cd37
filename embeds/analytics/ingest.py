"""Store one event with one statement that does not wait for the disk.

Visitor hashes: stable for one embed and one day; unlinkable to a person once the salt of the day is deleted.

Event names, and the limits of separate names and paths per day of an embed.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from datetime import date
from enum import StrEnum
from functools import partial
from urllib.parse import urlsplit
from uuid import UUID

from django.db import connection, transaction

from embeds import domains, page_loads
from embeds.lookup import find_active_embed
from embeds.models import PATH_MAX
from kernel.api.exceptions import InvalidInput
from messaging.pages.page_ids import InvalidUrl, NormalizedUrl, normalize

SALT_BYTES = 32
HASH_BYTES = 16

INSERT_SALT = "INSERT INTO embeds_dailysalt (day, salt) VALUES (%s, %s) ON CONFLICT DO NOTHING"
SELECT_SALT = "SELECT salt FROM embeds_dailysalt WHERE day = %s"

# At most one entry: a process that runs past midnight must drop the salt of yesterday.
cached: dict[date, bytes] = {}


def visitor_hash(*, day: date, embed_id: UUID, address: str, user_agent: str) -> bytes:
    """Return 16 bytes that identify a reader of one embed on one day."""
    visitor = b"\n".join((embed_id.bytes, address.encode(), user_agent.encode()))
    return hmac.digest(salt_of(day), visitor, hashlib.sha256)[:HASH_BYTES]


def salt_of(day: date) -> bytes:
    """Return the salt of a day; the first call creates it. A process caches it after the commit."""
    if (salt := cached.get(day)) is not None:
        return salt
    with connection.cursor() as cursor:
        # Two statements: the second sees a salt that another process committed while the first waited for its lock.
        cursor.execute(INSERT_SALT, [day, secrets.token_bytes(SALT_BYTES)])
        cursor.execute(SELECT_SALT, [day])
        salt = bytes(cursor.fetchone()[0])
    transaction.on_commit(partial(_cache, day, salt))
    return salt


def _cache(day: date, salt: bytes) -> None:
    cached.clear()
    cached[day] = salt


EVENT_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}\Z", re.ASCII)
OWN_NAMES_MAX = 50
PATHS_MAX = 200
# Never collides: EVENT_NAME does not match it, and paths start with a slash.
OTHER = "_other"
SLOTS = 4


class KnownEvent(StrEnum):
    """Events that the loader and the panel send. All other names are custom events of the owner."""

    EMBED_LOAD = "embed_load"
    TRIGGER_VIEW = "trigger_view"
    TRIGGER_CLICK = "trigger_click"
    PANEL_OPEN = "panel_open"
    PANEL_CLOSE = "panel_close"
    POST_CREATED = "post_created"
    REPLY_CREATED = "reply_created"
    REACTION_ADDED = "reaction_added"


# What counts as a view. A discussion in the page has no trigger: it is viewed with the page.
VIEW, VIEW_IN_PAGE = KnownEvent.TRIGGER_VIEW, KnownEvent.EMBED_LOAD
KNOWN_EVENTS = [event.value for event in KnownEvent]


def slot_of(day: date) -> int:
    """Return the number of the partition that stores a day."""
    return day.toordinal() % SLOTS


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
    page_loads.note(embed_id=snapshot.id, host=host, address=page_url, path=path)
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
