from django.db import migrations, models
from django.db.models import F, Func, Q, Value
from django.db.models.functions import Cast, Now

SEQUENCE = "CREATE SEQUENCE changes_change_id"
# Every transaction of this database with an id below the result has ended before the function returns, so the next
# statement sees all its rows. A transaction has its id in pg_stat_activity from its assignment to its end, and `next`
# precedes the look there. The caller's own rows count as committed. A standby does not list the transactions of its
# primary: there, the horizon is the snapshot's.
HORIZON = """
CREATE FUNCTION changes_horizon() RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    next bigint := pg_snapshot_xmax(pg_current_snapshot())::text::bigint;
    oldest bigint;
BEGIN
    IF pg_is_in_recovery() THEN
        RETURN pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
    END IF;
    next := greatest(next, pg_current_xact_id_if_assigned()::text::bigint + 1);
    PERFORM pg_stat_clear_snapshot();
    -- backend_xid has the lower 32 bits of an id, which is at most 2^31 away from `next`.
    SELECT min(next - (((next - backend_xid::text::bigint + 2147483648) & 4294967295) - 2147483648)) INTO oldest
    FROM pg_stat_activity
    WHERE datname = current_database() AND backend_xid IS NOT NULL AND pid <> pg_backend_pid();
    RETURN least(next, oldest);
END
$$
"""
PUBLIC = Q(account_id__isnull=True)


class Migration(migrations.Migration):
    initial = True

    operations = [
        migrations.RunSQL(SEQUENCE, "DROP SEQUENCE changes_change_id"),
        migrations.RunSQL(HORIZON, "DROP FUNCTION changes_horizon()"),
        migrations.CreateModel(
            name="Change",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "xid", "id", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "xid",
                    models.BigIntegerField(
                        db_default=Cast(
                            Cast(Func(function="pg_current_xact_id"), models.TextField()), models.BigIntegerField()
                        )
                    ),
                ),
                ("id", models.BigIntegerField(db_default=Func(Value("changes_change_id"), function="nextval"))),
                ("type", models.CharField(max_length=20)),
                ("at", models.DateTimeField(db_default=Func(function="clock_timestamp"))),
                ("page_id", models.CharField(max_length=35, null=True)),
                ("community_id", models.UUIDField(null=True)),
                ("message_id", models.UUIDField(null=True)),
                ("account_id", models.UUIDField(null=True)),
                ("actor_id", models.UUIDField(null=True)),
                ("about_id", models.UUIDField(null=True)),
                ("data", models.JSONField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(
                        F("page_id"),
                        F("xid"),
                        F("id"),
                        condition=PUBLIC & Q(page_id__isnull=False),
                        name="changes_of_page",
                    ),
                    models.Index(
                        F("community_id"),
                        F("xid"),
                        F("id"),
                        condition=PUBLIC & Q(community_id__isnull=False),
                        name="changes_of_community",
                    ),
                    models.Index(F("account_id"), F("xid"), F("id"), condition=~PUBLIC, name="changes_of_account"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ChangeLog",
            fields=[
                ("id", models.SmallIntegerField(default=1, primary_key=True, serialize=False)),
                ("generation", models.SmallIntegerField(default=0)),
                ("pruned_xid", models.BigIntegerField(default=0)),
                ("pruned_id", models.BigIntegerField(default=0)),
                ("seen_xid", models.BigIntegerField(default=0)),
                ("updated_at", models.DateTimeField(db_default=Now())),
            ],
            options={"constraints": [models.CheckConstraint(condition=Q(id=1), name="one_change_log")]},
        ),
    ]
