"""Pages on which a community has closed its discussion, and posts that it has pinned. An older release has neither."""

import django.core.validators
import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models
from django.db.models import F


def key(to: str, related_name: str, **options: object) -> models.ForeignKey:
    return models.ForeignKey(
        on_delete=django.db.models.deletion.CASCADE, related_name=related_name, to=f"messaging.{to}", **options
    )


def common() -> list[tuple[str, models.Field]]:
    return [
        ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
        ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
        ("page", key("page", "+", db_index=False)),
    ]


class Migration(migrations.Migration):
    dependencies = [("messaging", "0050_imported")]

    operations = [
        migrations.AddField(
            "community",
            "close_after_days",
            models.PositiveSmallIntegerField(
                db_default=0,
                default=0,
                help_text="So many days after the first post on a page, no more are written there. 0: never.",
                validators=[django.core.validators.MaxValueValidator(3650)],
            ),
        ),
        migrations.AddField("decision", "page_id", models.CharField(blank=True, max_length=35, null=True)),
        migrations.CreateModel(
            "ClosedPage",
            [*common(), ("community", key("community", "closed_pages"))],
            options={
                "ordering": ["-id"],
                "constraints": [models.UniqueConstraint(fields=("page", "community"), name="one_closing")],
            },
        ),
        migrations.CreateModel(
            "Pin",
            [
                *common(),
                ("community", key("community", "pins")),
                (
                    "message",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="pin", to="messaging.message"
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [models.Index("page", "community", F("id").desc(), name="pins_of_page")],
            },
        ),
    ]
