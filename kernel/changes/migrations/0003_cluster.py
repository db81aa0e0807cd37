from django.db import migrations, models

# The system identifier of the cluster and its timeline, which a restore to a point in time and a promotion change. A
# standby has the timeline of its primary: null.
CLUSTER = """
CREATE FUNCTION changes_cluster() RETURNS text LANGUAGE sql VOLATILE AS $$
    SELECT CASE WHEN NOT pg_is_in_recovery() THEN
        (SELECT system_identifier FROM pg_control_system()) || ' ' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
    END
$$
"""


class Migration(migrations.Migration):
    dependencies = [("changes", "0002_read_position")]

    operations = [
        migrations.RunSQL(CLUSTER, "DROP FUNCTION changes_cluster()"),
        migrations.RemoveField("changelog", "seen_xid"),
        migrations.AddField("changelog", "cluster", models.CharField(default="", max_length=40)),
        migrations.RemoveField("readposition", "generation"),
    ]
