"""The sessions of the panel. Only keyed digests of their cookies are stored."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

import kernel.api.ids


class Migration(migrations.Migration):
    dependencies = [
        ("messaging", "0016_hide_threads_of_earlier_posts"),
    ]

    operations = [
        migrations.CreateModel(
            name="PanelSession",
            fields=[
                (
                    "id",
                    models.UUIDField(default=kernel.api.ids.new_id, editable=False, primary_key=True, serialize=False),
                ),
                ("digest", models.BinaryField(max_length=32, unique=True)),
                ("sessions_valid_from", models.DateTimeField(null=True)),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False),
                ),
                (
                    "last_used_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), db_index=True),
                ),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="panel_sessions",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
    ]
