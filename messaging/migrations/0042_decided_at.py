"""The time of the latest decision on a post, and of those that jobs have made. An older release inserts null."""

from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("messaging", "0041_counted_tombstones")]

    operations = [
        migrations.AddField("message", "decided_at", models.DateTimeField(blank=True, editable=False, null=True)),
        migrations.AddField("changedrow", "decided_at", models.DateTimeField(null=True)),
        migrations.AddField(
            "bulkjob", "undoes", ArrayField(base_field=models.DateTimeField(null=True), null=True, size=None)
        ),
    ]
