"""Exports and erasures of people, and the digests of erased handles."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

import kernel.api.ids


class Migration(migrations.Migration):
    dependencies = [
        ("messaging", "0021_moderators_and_bans"),
    ]

    operations = [
        migrations.CreateModel(
            name="ErasedHandle",
            fields=[
                ("digest", models.BinaryField(max_length=32, primary_key=True, serialize=False)),
            ],
        ),
        migrations.CreateModel(
            name="ErasedHandleKey",
            fields=[
                ("id", models.SmallIntegerField(default=1, primary_key=True, serialize=False)),
                ("encrypted_key", models.BinaryField()),
            ],
        ),
        migrations.CreateModel(
            name="PersonErasure",
            fields=[
                ("lease_id", models.UUIDField(null=True)),
                ("leased_until", models.DateTimeField(null=True)),
                (
                    "account",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="erasure",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("posts", models.CharField(choices=[("anonymous", "Anonymous"), ("deleted", "Deleted")], max_length=9)),
                (
                    "requested_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False),
                ),
                ("due_at", models.DateTimeField(db_index=True)),
                (
                    "stopped_ids",
                    django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), default=list, size=None),
                ),
                ("started_at", models.DateTimeField(null=True)),
                (
                    "account_ids",
                    django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), default=list, size=None),
                ),
            ],
        ),
        migrations.CreateModel(
            name="PersonExport",
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
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="exports",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="PersonExportPart",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "export_id", "number", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("number", models.IntegerField()),
                ("data", models.BinaryField()),
                (
                    "export",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="parts",
                        to="messaging.personexport",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="account",
            name="erasure_due_at",
            field=models.DateTimeField(editable=False, null=True),
        ),
        migrations.AddConstraint(
            model_name="erasedhandlekey",
            constraint=models.CheckConstraint(condition=models.Q(("id", 1)), name="one_key_of_erased_handles"),
        ),
        migrations.AddConstraint(
            model_name="personerasure",
            constraint=models.CheckConstraint(
                condition=models.Q(("posts__in", ["anonymous", "deleted"])), name="erasure_posts_known"
            ),
        ),
        migrations.AddIndex(
            model_name="personexport",
            index=models.Index(
                models.F("account"), models.OrderBy(models.F("requested_at"), descending=True), name="exports_of_one"
            ),
        ),
        migrations.AddConstraint(
            model_name="personexport",
            constraint=models.CheckConstraint(
                condition=models.Q(("status__in", ["waiting", "running", "ready", "failed"])),
                name="export_status_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="personexport",
            constraint=models.UniqueConstraint(
                condition=models.Q(("status__in", ["waiting", "running"])),
                fields=("account",),
                name="one_export_at_a_time",
            ),
        ),
    ]
