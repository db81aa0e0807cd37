"""When tokens were last used: noted in memory, written together.

Written by each request, the note costs a third of a post: a statement and a commit of its own. So a process gathers
notes for a second (TOKEN_USE_SECONDS). One that stops takes those of its last second with it.
"""

from __future__ import annotations

import logging
from threading import Lock, Timer
from uuid import UUID

from django.conf import settings
from django.db import Error, connections

from config.database.sql import execute

logger = logging.getLogger(__name__)

# Skips rows that somebody else has locked: a note of use is not worth waiting for. While the pepper is being rotated,
# tokens in use move to the new one this way, at their next use: one used since then has moved.
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
    """Note that a token was used now. `digest`: what it is under the current pepper."""
    with _lock:
        is_first = not _noted
        _noted[token_id] = digest
    if not settings.TOKEN_USE_SECONDS:
        write_down()
    elif is_first:
        _write_soon()


def write_down() -> None:
    """Write what is noted. A failure is logged, and the notes are dropped: the next use is noted again."""
    with _lock:
        noted = dict(_noted)
        _noted.clear()
    try:
        execute(WRITE, [list(noted), list(noted.values())])
    except Error:
        logger.exception("last_used_at of %s tokens was not written", len(noted))


def _write_soon() -> None:
    timer = Timer(settings.TOKEN_USE_SECONDS, _write_and_leave)
    timer.daemon = True
    try:
        timer.start()
    except RuntimeError:
        # No thread to be had: these notes are lost, and the next use tries again.
        logger.exception("The uses of tokens were not written")
        with _lock:
            _noted.clear()


def _write_and_leave() -> None:
    try:
        write_down()
    finally:
        connections.close_all()
