import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

# Without the columns, an earlier release would take these for requests for new agents.
DELETE_WIDENINGS = "DELETE FROM agents_agentrequest WHERE widens_id IS NOT NULL"


class Migration(migrations.Migration):
    dependencies = [
        ("agents", "0004_days_of_successor"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="agentrequest",
            name="request_handle_free",
        ),
        migrations.RemoveConstraint(
            model_name="agentrequest",
            name="request_approved_has_agent",
        ),
        migrations.AddField(
            model_name="agentrequest",
            name="every_community",
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
        migrations.AddField(
            model_name="agentrequest",
            name="former_community_ids",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.UUIDField(), editable=False, null=True, size=None
            ),
        ),
        migrations.AddField(
            model_name="agentrequest",
            name="former_scopes",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(
                    choices=[("post", "Post"), ("reply", "Reply"), ("quote", "Quote"), ("react", "React")], max_length=5
                ),
                editable=False,
                null=True,
                size=None,
            ),
        ),
        migrations.AddField(
            model_name="agentrequest",
            name="widens",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="widenings",
                to="agents.agent",
            ),
        ),
        migrations.AddIndex(
            model_name="agentrequest",
            index=models.Index(
                models.F("widens"), condition=models.Q(("widens__isnull", False)), name="widenings_of_agent"
            ),
        ),
        migrations.AddConstraint(
            model_name="agentrequest",
            constraint=models.UniqueConstraint(
                condition=models.Q(("status__in", ["pending", "approved"]), ("widens", None)),
                fields=("agent_handle",),
                name="request_handle_free",
            ),
        ),
        migrations.AddConstraint(
            model_name="agentrequest",
            constraint=models.UniqueConstraint(
                condition=models.Q(("status", "pending")), fields=("widens",), name="request_one_widening"
            ),
        ),
        migrations.AddConstraint(
            model_name="agentrequest",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("agent__isnull", False), ("status", "approved"), ("widens", None)),
                    models.Q(("agent", None), ("status", "approved"), ("widens__isnull", False)),
                    models.Q(models.Q(("status", "approved"), _negated=True), ("agent", None)),
                    _connector="OR",
                ),
                name="request_approved_has_agent",
            ),
        ),
        migrations.RunSQL(migrations.RunSQL.noop, DELETE_WIDENINGS),
    ]
