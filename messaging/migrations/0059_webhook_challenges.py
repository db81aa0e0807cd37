"""Receivers answer a challenge before anything else is sent to them. Those that acknowledged an event have no need to.

An older release sends events to new webhooks without a challenge, until it ends.
"""

from django.db import migrations, models

ACKNOWLEDGED = """
UPDATE messaging_webhook SET verified_at = created_at WHERE verified_at IS NULL AND EXISTS (
    SELECT FROM messaging_webhookdelivery WHERE webhook_id = messaging_webhook.id AND error = ''
)
"""
# One error tells nothing about the names of the operator's network.
ONE_ERROR = "UPDATE messaging_webhookdelivery SET error = 'address_not_allowed' WHERE error = 'unresolved'"


class Migration(migrations.Migration):
    dependencies = [("messaging", "0054_count_earlier_posts_of_communities")]

    operations = [
        migrations.AddField("webhook", "verified_at", models.DateTimeField(null=True)),
        migrations.AlterField(
            "webhookdelivery",
            "error",
            models.CharField(
                blank=True,
                choices=[
                    ("timeout", "Timeout"),
                    ("address_not_allowed", "Address Not Allowed"),
                    ("connection_failed", "Connection Failed"),
                    ("tls_failed", "Tls Failed"),
                    ("invalid_response", "Invalid Response"),
                    ("redirected", "Redirected"),
                    ("refused", "Refused"),
                    ("challenge_failed", "Challenge Failed"),
                ],
                max_length=19,
            ),
        ),
        migrations.RunSQL(ACKNOWLEDGED, migrations.RunSQL.noop),
        migrations.RunSQL(ONE_ERROR, migrations.RunSQL.noop),
    ]
