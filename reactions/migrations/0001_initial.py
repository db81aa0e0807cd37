import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import kernel.api.ids


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("messaging", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Reaction",
            fields=[
                (
                    "id",
                    models.UUIDField(default=kernel.api.ids.new_id, editable=False, primary_key=True, serialize=False),
                ),
                ("emoji", models.CharField(max_length=32)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                (
                    "account",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="reactions",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "message",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="reactions",
                        to="messaging.message",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        models.F("message"),
                        models.OrderBy(models.F("created_at"), descending=True),
                        models.OrderBy(models.F("id"), descending=True),
                        condition=models.Q(("emoji", ""), _negated=True),
                        name="reactions_of_post",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("account", "message"), name="one_reaction_per_account"),
                    models.CheckConstraint(condition=models.Q(("emoji", ""), _negated=True), name="reaction_has_emoji"),
                ],
            },
        ),
    ]
