"""Records when tokens were last used: noted in memory, written in batches.

A statement and a commit in each request would add a third to the cost of a post. So a process collects notes for a
second (TOKEN_USE_SECONDS). A process that stops loses the notes of its last second.
"""

from __future__ import annotations

import logging
from threading import Lock, Timer
from uuid import UUID

from django.conf import settings
from django.db import Error, connections

from kernel.database.sql import execute

logger = logging.getLogger(__name__)

# SKIP LOCKED: a note is not worth a wait for a lock. During a rotation of the pepper, this statement also replaces the
# digest of each used token by the one under the current pepper.
WRITE = """
WITH due AS (
    SELECT token.id, noted.digest FROM agents_agenttoken token
    JOIN unnest(%s::uuid[], %s::bytea[]) AS noted (id, digest) ON noted.id = token.id
    WHERE token.digest <> noted.digest
        OR last_used_at IS NULL OR last_used_at < clock_timestamp() - interval '1 minute'
    FOR NO KEY UPDATE OF token SKIP LOCKED
)
UPDATE agents_agenttoken token SET last_used_at = clock_timestamp(), digest = due.digest
FROM due WHERE token.id = due.id
"""

_noted: dict[UUID, bytes] = {}
_lock = Lock()


def note(token_id: UUID, digest: bytes) -> None:
    """Note the use of a token. `digest`: the token's digest under the current pepper."""
    with _lock:
        is_first = not _noted
        _noted[token_id] = digest
    if not settings.TOKEN_USE_SECONDS:
        flush()
    elif is_first:
        _schedule_flush()


def flush() -> None:
    """Write the notes to the database. An error is logged and drops them: the next use is noted again."""
    with _lock:
        noted = dict(_noted)
        _noted.clear()
    try:
        execute(WRITE, [list(noted), list(noted.values())])
    except Error:
        logger.exception("last_used_at of %s tokens was not written", len(noted))


def _schedule_flush() -> None:
    timer = Timer(settings.TOKEN_USE_SECONDS, _flush_and_disconnect)
    timer.daemon = True
    try:
        timer.start()
    except RuntimeError:
        # No thread can be started: drop the notes, and retry at the next use.
        logger.exception("The uses of tokens were not written")
        with _lock:
            _noted.clear()


def _flush_and_disconnect() -> None:
    try:
        flush()
    finally:
        connections.close_all()
