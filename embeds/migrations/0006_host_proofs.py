"""Hosts that communities prove, and embeds that super admins trust. An older release leaves them as they are."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

import kernel.api.ids


class Migration(migrations.Migration):
    dependencies = [
        ("embeds", "0005_shows"),
        ("messaging", "0042_decided_at"),
    ]

    operations = [
        migrations.AddField(
            model_name="embed",
            name="trusted_entries",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=261), editable=False, null=True, size=1000
            ),
        ),
        migrations.CreateModel(
            name="HostProof",
            fields=[
                (
                    "id",
                    models.UUIDField(default=kernel.api.ids.new_id, editable=False, primary_key=True, serialize=False),
                ),
                ("host", models.CharField(db_index=True, max_length=253)),
                ("token", models.CharField(max_length=64)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("proved_at", models.DateTimeField(null=True)),
                ("found_at", models.DateTimeField(null=True)),
                ("checked_at", models.DateTimeField(null=True)),
                ("asked_at", models.DateTimeField(null=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("unseen", "Unseen"),
                            ("found", "Found"),
                            ("no_record", "No Record"),
                            ("other_values", "Other Values"),
                            ("no_answer", "No Answer"),
                        ],
                        default="unseen",
                        max_length=12,
                    ),
                ),
                (
                    "values",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=255), default=list, size=5
                    ),
                ),
                (
                    "community",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="host_proofs",
                        to="messaging.community",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("community", "host"), name="one_proof_of_host"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["unseen", "found", "no_record", "other_values", "no_answer"])
                        ),
                        name="host_state_known",
                    ),
                ],
            },
        ),
    ]
