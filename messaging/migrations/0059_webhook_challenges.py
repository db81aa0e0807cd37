"""Receivers answer a challenge before anything else is sent to them.

An older release sends events to new webhooks without a challenge, until it ends.
"""

from django.db import migrations, models


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
    ]
