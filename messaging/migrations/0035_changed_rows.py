"""The rows that jobs of the admin have changed, which undoing them changes back. An older release records none."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("messaging", "0034_account_records")]

    operations = [
        migrations.CreateModel(
            name="ChangedRow",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("row_id", models.UUIDField()),
                (
                    "job",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="changed_rows",
                        to="messaging.bulkjob",
                    ),
                ),
            ],
        ),
    ]
