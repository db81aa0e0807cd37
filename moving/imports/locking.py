"""What a transaction of an import does first: it waits for its source, and looks whether it may write."""

from __future__ import annotations

from kernel.database.sql import allow_long_statements, execute, fetch_one
from messaging.posts.rights import LONG_STATEMENT_SECONDS
from moving.exceptions import ImportBusy, ImportUndone
from moving.models import UNDO_STATES, WRITABLE, Move

# A batch of another process may take longer than requests wait for a lock.
WAIT_LONGER = "SELECT set_config('lock_timeout', '60s', true)"
# One writer of a source at a time; the unique indexes decide all the same.
LOCK_SOURCE = "SELECT pg_advisory_xact_lock(hashtextextended('moving ' || %s::text || ' ' || %s::text, 0))"
STATUS = "SELECT status FROM moving_move WHERE id = %s FOR SHARE"


def lock_source(move: Move) -> None:
    allow_long_statements(LONG_STATEMENT_SECONDS)
    execute(WAIT_LONGER)
    execute(LOCK_SOURCE, [str(move.community_id), move.format])


def require_writable(move: Move) -> None:
    """Raises ImportUndone, ImportBusy (409)."""
    row = fetch_one(STATUS, [move.pk])
    if row is None or row[0] in UNDO_STATES:
        raise ImportUndone
    if row[0] not in WRITABLE:
        raise ImportBusy(status=row[0])
