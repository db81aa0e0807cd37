"""Columns of edited and deleted posts, and the earlier versions of posts. An older release inserts the defaults."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("messaging", "0012_derive_from_earlier_posts")]

    operations = [
        migrations.AddField("message", "edited_at", models.DateTimeField(blank=True, editable=False, null=True)),
        *(
            migrations.AddField("message", name, models.BooleanField(db_default=False, default=False, editable=False))
            for name in ("held_after_edit", "in_hidden_thread", "is_tombstone")
        ),
        migrations.CreateModel(
            name="MessageVersion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("content", models.JSONField()),
                ("was_public", models.BooleanField()),
                ("replaced_at", models.DateTimeField(db_index=True)),
                (
                    "message",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="versions", to="messaging.message"
                    ),
                ),
            ],
            options={"ordering": ["-replaced_at", "-id"]},
        ),
    ]
