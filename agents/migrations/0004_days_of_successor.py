from django.db import migrations, models

# A rotation named its successor by the time of both.
FILL = """
UPDATE agents_agenttoken former
SET days_of_successor = least(365, greatest(1, ceil(extract(epoch FROM successor.expires_at - successor.created_at) / 86400)))
FROM agents_agenttoken successor
WHERE successor.agent_id = former.agent_id AND successor.created_at = former.expiry_announced_at
    AND former.revoked_at IS NULL AND former.expires_at > now()
"""


class Migration(migrations.Migration):
    dependencies = [("agents", "0003_expiry_announced")]

    operations = [
        migrations.AddField(
            "agenttoken", "days_of_successor", models.PositiveSmallIntegerField(editable=False, null=True)
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
