"""Records of accounts for super admins, which are made in the background. An older release does not know them."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

import kernel.api.ids


class Migration(migrations.Migration):
    dependencies = [
        ("messaging", "0033_words_of_unpublished_posts"),
    ]

    operations = [
        migrations.CreateModel(
            name="AccountRecord",
            fields=[
                ("lease_id", models.UUIDField(null=True)),
                ("leased_until", models.DateTimeField(null=True)),
                (
                    "id",
                    models.UUIDField(default=kernel.api.ids.new_id, editable=False, primary_key=True, serialize=False),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("running", "Running"),
                            ("ready", "Ready"),
                            ("failed", "Failed"),
                        ],
                        default="waiting",
                        max_length=7,
                    ),
                ),
                ("percent", models.PositiveSmallIntegerField(default=0)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("size", models.BigIntegerField(default=0)),
                (
                    "requested_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False),
                ),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="records",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="AccountRecordPart",
            fields=[
                ("number", models.IntegerField()),
                ("data", models.BinaryField()),
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "record_id", "number", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "record",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="parts",
                        to="messaging.accountrecord",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.AddConstraint(
            model_name="accountrecord",
            constraint=models.CheckConstraint(
                condition=models.Q(("status__in", ["waiting", "running", "ready", "failed"])),
                name="record_status_known",
            ),
        ),
    ]
