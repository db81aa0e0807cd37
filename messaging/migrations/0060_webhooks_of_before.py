"""Receivers that acknowledged an event have no need of a challenge. Apart from the column, whose lock stops all."""

from django.db import migrations

ACKNOWLEDGED = """
UPDATE messaging_webhook SET verified_at = created_at WHERE verified_at IS NULL AND EXISTS (
    SELECT FROM messaging_webhookdelivery WHERE webhook_id = messaging_webhook.id AND error = ''
)
"""
# One error tells nothing about the names of the operator's network.
ONE_ERROR = "UPDATE messaging_webhookdelivery SET error = 'address_not_allowed' WHERE error = 'unresolved'"


class Migration(migrations.Migration):
    dependencies = [("messaging", "0059_webhook_challenges")]

    operations = [
        migrations.RunSQL(ACKNOWLEDGED, migrations.RunSQL.noop),
        migrations.RunSQL(ONE_ERROR, migrations.RunSQL.noop),
    ]
