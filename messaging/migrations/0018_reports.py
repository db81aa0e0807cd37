"""Reports of posts, and the posts and rules that they concern. An older release inserts the defaults."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("messaging", "0017_panel_sessions"),
    ]

    operations = [
        migrations.AddField(
            model_name="community",
            name="reports_to_hide",
            field=models.PositiveSmallIntegerField(
                db_default=0,
                default=0,
                help_text="So many reports put a post back to review, until a moderator decides on it. 0: never.",
            ),
        ),
        migrations.AddField(
            model_name="message",
            name="held_after_reports",
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
        migrations.CreateModel(
            name="Report",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "reason",
                    models.CharField(
                        choices=[
                            ("spam", "Spam"),
                            ("abuse", "Abuse"),
                            ("off_topic", "Off Topic"),
                            ("illegal", "Illegal"),
                            ("other", "Other"),
                        ],
                        max_length=9,
                    ),
                ),
                ("note", models.CharField(blank=True, max_length=500)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("closed_at", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "message",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="reports",
                        to="messaging.message",
                    ),
                ),
                (
                    "reporter",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="reports", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at", "-id"],
                "indexes": [
                    models.Index(models.F("message"), condition=models.Q(("closed_at", None)), name="open_reports")
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("message", "reporter"), name="one_report_of_a_post"),
                    models.CheckConstraint(
                        condition=models.Q(("reason__in", ["spam", "abuse", "off_topic", "illegal", "other"])),
                        name="report_reason_known",
                    ),
                ],
            },
        ),
    ]
