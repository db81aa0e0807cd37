"""Deletes rows of the change log after STORED_DAYS."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction

from kernel.database.sql import execute, fetch_all

STORED_DAYS = 30
BATCH = 5_000
# The oldest rows, up to the first that is not old; two prunes take turns.
OLD = """
SELECT xid, id, at < %(before)s AS is_old FROM changes_change
WHERE xid < changes_horizon() ORDER BY xid, id LIMIT %(count)s
"""
LOCK = "SELECT FROM changes_changelog FOR UPDATE"
DELETE = "DELETE FROM changes_change WHERE (xid, id) <= (%(xid)s, %(id)s)"
NOTE = """
UPDATE changes_changelog SET pruned_xid = %(xid)s, pruned_id = %(id)s, updated_at = now()
WHERE (pruned_xid, pruned_id) < (%(xid)s, %(id)s)
"""
COUNT = "SELECT count(*) FROM changes_change WHERE at < %(before)s"


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """Return the number of rows that are deleted (or would be)."""
    before = now - timedelta(days=STORED_DAYS)
    if dry_run:
        ((old,),) = fetch_all(COUNT, {"before": before})
        return {"changes": old}
    total = 0
    while deleted := _delete_batch(before):
        total += deleted
    return {"changes": total}


@transaction.atomic
def _delete_batch(before: datetime) -> int:
    """Delete the oldest rows, up to the first that is not old, and note their position; returns their number."""
    execute(LOCK)
    last = None
    for xid, row_id, is_old in fetch_all(OLD, {"before": before, "count": BATCH}):
        if not is_old:
            break
        last = {"xid": xid, "id": row_id}
    if last is None:
        return 0
    execute(NOTE, last)
    return execute(DELETE, last)
