"""Records on which hosts an embed was loaded, or refused by its domain lists: for the owner, who installs the widget.

The loader tells it without a request of its own: by its request for the configuration and by events. As with the last
use of tokens, notes are collected in memory for a second (SIGHTING_SECONDS) and written in batches, for each host at
most once a minute. A process that stops loses the notes of its last second.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from threading import Lock, Timer
from time import monotonic
from typing import NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import Error, connections, transaction

from embeds.domains import OPAQUE, is_host
from embeds.models import DOMAIN_MAX, Sighting
from kernel.database.sql import execute
from kernel.writes.deletion import delete_old_in_batches

logger = logging.getLogger(__name__)

STORED_DAYS = 30
# A client can send any host: an embed has rows for so many that its whitelist names, and for so many others, of each
# the newest. So made-up hosts displace only one another.
HOSTS_MAX = 20
# How many notes a process collects for one write, and for how many it remembers that they were written.
NOTES_MAX = 200
WRITTEN_MAX = 5_000
EVERY_SECONDS = 60

# In the order of the key: two processes that write the same rows wait for each other, without a deadlock.
WRITE = """
INSERT INTO embeds_sighting (embed_id, host, is_refused, path, is_plain)
SELECT embed_id, host, is_refused, path, is_plain
FROM unnest(%s::uuid[], %s::text[], %s::boolean[], %s::text[], %s::boolean[])
    AS noted (embed_id, host, is_refused, path, is_plain)
ORDER BY embed_id, host
ON CONFLICT (embed_id, host) DO UPDATE SET
    is_refused = excluded.is_refused,
    is_plain = coalesce(embeds_sighting.is_plain, TRUE) AND excluded.is_plain,
    path = coalesce(nullif(excluded.path, ''), embeds_sighting.path),
    last_seen_at = clock_timestamp()
"""
# Under `*.site.example`, and on ports that no entry names, hosts can be made up too. Those that an entry spells out,
# with `www.` or without, come before them.
FORGET = """
DELETE FROM embeds_sighting USING (
    SELECT seen.embed_id, host, row_number() OVER (
        PARTITION BY seen.embed_id, is_refused OR embed.domain_whitelist = '{}'
        ORDER BY host = ANY(embed.domain_whitelist) OR regexp_replace(host, '^www[.]', '') = ANY(embed.domain_whitelist)
            DESC, last_seen_at DESC, host
    ) AS place
    FROM embeds_sighting seen JOIN embeds_embed embed ON embed.id = seen.embed_id
    WHERE seen.embed_id = ANY(%s)
) AS ranked
WHERE embeds_sighting.embed_id = ranked.embed_id AND embeds_sighting.host = ranked.host AND place > %s
"""


class Note(NamedTuple):
    is_refused: bool
    path: str
    is_plain: bool


Key = tuple[UUID, str]
_noted: dict[Key, Note] = {}
_written: dict[Key, tuple[Note, float]] = {}
_lock = Lock()


def note(*, embed_id: UUID, host: str, address: str, is_refused: bool = False, path: str = "") -> None:
    """Note that a page on `host` loaded the widget. Text that is no host is ignored.

    `address`: of the page or its origin. One visit over https tells that the site has it.
    """
    if len(host) > DOMAIN_MAX or not (host == OPAQUE or is_host(host)):
        return
    key, noted = (embed_id, host), Note(is_refused, path, address[:5].lower() == "http:")
    with _lock:
        if _is_fresh(key, noted) or len(_noted) >= NOTES_MAX:
            return
        if key in _noted and not _noted[key].is_plain:
            noted = noted._replace(is_plain=False)
        is_first = not _noted
        _noted[key] = noted
    if not settings.SIGHTING_SECONDS:
        flush()
    elif is_first:
        _schedule_flush()


def flush() -> None:
    """Write the notes to the database. An error is logged and drops them: the next visit is noted again."""
    with _lock:
        noted = dict(_noted)
        _noted.clear()
    if not noted:
        return
    rows = [(embed_id, host, *note) for (embed_id, host), note in noted.items()]
    try:
        with transaction.atomic():
            execute(WRITE, [list(column) for column in zip(*rows, strict=True)])
            execute(FORGET, [list({embed_id for embed_id, _host in noted}), HOSTS_MAX])
    except Error:
        logger.exception("%s visits of widgets were not written", len(noted))
        return
    _remember(noted)


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """Delete hosts that were not seen for STORED_DAYS. Part of the command `prune`."""
    before = now - timedelta(days=STORED_DAYS)
    if dry_run:
        return {"hosts of widgets": Sighting.objects.filter(last_seen_at__lt=before).count()}
    return {"hosts of widgets": delete_old_in_batches(Sighting, column="last_seen_at", before=before)}


def _is_fresh(key: Key, noted: Note) -> bool:
    """Whether a note that says as much was written in the last minute."""
    written, at = _written.get(key, (None, 0.0))
    if written is None or monotonic() - at >= EVERY_SECONDS:
        return False
    says_more = noted.path not in ("", written.path) or (written.is_plain and not noted.is_plain)
    return written.is_refused == noted.is_refused and not says_more


def _remember(noted: dict[Key, Note]) -> None:
    now = monotonic()
    with _lock:
        if len(_written) + len(noted) > WRITTEN_MAX:
            _written.clear()
        _written.update({key: (note, now) for key, note in noted.items()})


def _schedule_flush() -> None:
    timer = Timer(settings.SIGHTING_SECONDS, _flush_and_disconnect)
    timer.daemon = True
    try:
        timer.start()
    except RuntimeError:
        # No thread can be started: drop the notes, and retry at the next visit.
        logger.exception("Visits of widgets were not written")
        with _lock:
            _noted.clear()


def _flush_and_disconnect() -> None:
    try:
        flush()
    finally:
        connections.close_all()
