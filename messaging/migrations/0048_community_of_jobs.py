"""The community of a job that a moderator has started. An older release inserts null, and runs such a job by its ids."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("messaging", "0047_embedding")]

    operations = [
        migrations.AddField(
            "bulkjob",
            "community",
            models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="messaging.community"
            ),
        )
    ]
