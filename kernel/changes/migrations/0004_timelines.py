from django.db import migrations, models
from django.db.models import Func

# The timeline of PostgreSQL in the highest bits: a promotion gives rows higher positions than all that the former
# primary has written, also than those that were lost, whose transaction ids are assigned again.
TIMELINE = """
CREATE FUNCTION changes_timeline() RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint << 48
$$
"""
XID = """
CREATE FUNCTION changes_xid() RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT changes_timeline() + pg_current_xact_id()::text::bigint
$$
"""
# Readers of before go on: every row of before is below the result. The lock of the column's new default waits for the
# transactions whose rows have the former one. On a standby the timeline is that of the newest row.
HORIZON = """
CREATE OR REPLACE FUNCTION changes_horizon() RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    next bigint := pg_snapshot_xmax(pg_current_snapshot())::text::bigint;
    oldest bigint;
BEGIN
    IF pg_is_in_recovery() THEN
        next := pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
        RETURN (greatest((SELECT max(xid) FROM changes_change), 0) >> 48 << 48) + next;
    END IF;
    next := greatest(next, pg_current_xact_id_if_assigned()::text::bigint + 1);
    PERFORM pg_stat_clear_snapshot();
    -- backend_xid has the lower 32 bits of an id, which is at most 2^31 away from `next`.
    SELECT min(next - (((next - backend_xid::text::bigint + 2147483648) & 4294967295) - 2147483648)) INTO oldest
    FROM pg_stat_activity
    WHERE datname = current_database() AND backend_xid IS NOT NULL AND pid <> pg_backend_pid();
    RETURN changes_timeline() + least(next, oldest);
END
$$
"""


class Migration(migrations.Migration):
    dependencies = [("changes", "0003_cluster")]

    operations = [
        # Not reversible: the former horizon hides the rows of this default.
        migrations.RunSQL(TIMELINE),
        migrations.RunSQL(XID),
        migrations.RunSQL(HORIZON),
        migrations.AlterField("change", "xid", models.BigIntegerField(db_default=Func(function="changes_xid"))),
    ]
