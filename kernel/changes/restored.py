"""Adopts a change log that goes on elsewhere: in another database cluster, or on another timeline of the same one.

A dump that is restored, a standby that is promoted and a recovery to a point in time may lack rows that readers have
got. So the log gets a new generation, which makes all cursors of before invalid (410). Each read compares the cluster
(`kernel.changes.reading`), and `migrate` does after a restore, without a statement timeout.

A promoted standby lacks nothing if commits wait for standbys (`synchronous_standby_names`): a row that no standby has
is visible to nobody. Then cursors stay valid. Positions contain the timeline, so a new row is after all of before, also
after lost ones.

Positions of another cluster may be lower than those in the rows: new rows would sort before old ones. Then the old rows
get positions before all new ones, in the same order.
"""

from __future__ import annotations

from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections, transaction

from kernel.changes.rows import START

CREATE = """
INSERT INTO changes_changelog (id, generation, pruned_xid, pruned_id, cluster) VALUES (1, 0, 0, 0, changes_cluster())
ON CONFLICT DO NOTHING
"""
# Null on a standby.
IS_ELSEWHERE = "cluster <> changes_cluster()"
LOCK = f"SELECT {IS_ELSEWHERE} FROM changes_changelog FOR UPDATE"  # noqa: S608  a constant
# A later timeline of the same cluster, whose commits wait for standbys.
IS_CONTINUED = """
SELECT left(cluster, -8) = left(changes_cluster(), -8) AND cluster < changes_cluster()
    AND current_setting('synchronous_standby_names') <> ''
FROM changes_changelog
"""
CONTINUE = "UPDATE changes_changelog SET cluster = changes_cluster(), updated_at = now()"
# All rows of this cluster are below the result of `greatest`.
HAS_HIGHER_XIDS = """
SELECT greatest(log.pruned_xid, (SELECT max(xid) FROM changes_change)) >= greatest(
    changes_timeline() + pg_snapshot_xmax(pg_current_snapshot())::text::bigint, changes_xid() + 1
)
FROM changes_changelog log
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
NOTHING_PRUNED = f"UPDATE changes_changelog SET pruned_xid = {START.xid}, pruned_id = {START.id}"  # noqa: S608  constants
ADOPT = "UPDATE changes_changelog SET generation = generation + 1, cluster = changes_cluster(), updated_at = now()"
# Of a restored database: the next start adopts the log, in any cluster.
BEGIN_AGAIN = "UPDATE changes_changelog SET cluster = '', generation = %(generation)s, updated_at = now()"
# Below the maximum of its column (32,767), since each promotion of a standby adds one.
GENERATION_MAX = 30_000
# An account that had read beyond the end of the log has read all of it.
LIMIT_READ_POSITIONS = """
UPDATE changes_readposition read SET xid = newest.xid, row_id = newest.id
FROM (
    SELECT xid, id FROM changes_change UNION ALL SELECT pruned_xid, pruned_id FROM changes_changelog
    ORDER BY xid DESC, id DESC LIMIT 1
) newest
WHERE (read.xid, read.row_id) > (newest.xid, newest.id)
"""


def adopt_restored_log(*, using: str, **_kwargs: Any) -> None:
    """Receiver of post_migrate: create the state of the log, and adopt a restored one."""
    with connections[using].cursor() as cursor:
        cursor.execute(CREATE)
    adopt_log(using=using)


def adopt_log(*, using: str = DEFAULT_DB_ALIAS) -> None:
    """Start a new generation, or continue the log. Does nothing if another process was faster."""
    with transaction.atomic(using=using), connections[using].cursor() as cursor:
        cursor.execute(LOCK)
        if cursor.fetchone() != (True,):
            return
        cursor.execute(IS_CONTINUED)
        if cursor.fetchone() == (True,):
            cursor.execute(CONTINUE)
            return
        cursor.execute(HAS_HIGHER_XIDS)
        if cursor.fetchone() == (True,):
            cursor.execute(RENUMBER)
            cursor.execute(NOTHING_PRUNED)
        cursor.execute(LIMIT_READ_POSITIONS)
        cursor.execute(ADOPT)
