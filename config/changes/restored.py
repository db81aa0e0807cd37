"""Adopts a change log that was restored from a dump into another database cluster.

Transaction ids of another cluster may be lower than those in the rows: new rows would sort before old ones. So the
old rows get positions before all new ones, in the same order, and a new generation makes older cursors invalid (410).
`migrate` runs this each time.
"""

from __future__ import annotations

from typing import Any

from django.db import connections, transaction

from config.changes.rows import START

CREATE = """
INSERT INTO changes_changelog (id, generation, pruned_xid, pruned_id, seen_xid) VALUES (1, 0, 0, 0, 0)
ON CONFLICT DO NOTHING
"""
IS_OF_ANOTHER_CLUSTER = """
SELECT greatest(seen_xid, (SELECT max(xid) FROM changes_change)) > pg_current_xact_id()::text::bigint
FROM changes_changelog FOR UPDATE
"""
RENUMBER = """
UPDATE changes_change SET xid = numbered.before_all, id = numbered.number
FROM (
    SELECT xid, id, least(min(xid) OVER (), 0) - 1 AS before_all, row_number() OVER (ORDER BY xid, id) AS number
    FROM changes_change
) numbered
WHERE (changes_change.xid, changes_change.id) = (numbered.xid, numbered.id)
"""
# No row is deleted: the pruned position is before all of them.
ADOPT = f"""
UPDATE changes_changelog SET generation = generation + 1, pruned_xid = {START.xid}, pruned_id = 0,
    seen_xid = pg_current_xact_id()::text::bigint, updated_at = now()
"""  # noqa: S608  a constant


def adopt_restored_log(*, using: str, **_kwargs: Any) -> None:
    """Receiver of post_migrate: create the state of the log, and adopt a restored one."""
    with transaction.atomic(using=using), connections[using].cursor() as cursor:
        cursor.execute(CREATE)
        cursor.execute(IS_OF_ANOTHER_CLUSTER)
        if cursor.fetchone() == (True,):
            cursor.execute(RENUMBER)
            cursor.execute(ADOPT)
