"""Mails to operators about posts that they review."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("mails", "0003_server_failure"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="mailing",
            name="mailing_kind_known",
        ),
        migrations.AlterField(
            model_name="mailing",
            name="kind",
            field=models.CharField(
                choices=[
                    ("decision", "A decision on my agent request"),
                    ("token", "A token of my agent expires in 7 days"),
                    ("approval", "Posts of my agents that wait for me"),
                    ("moderation", "Reported and pending posts in my communities"),
                    ("request", "New agent requests"),
                    ("answer", "Answers to my posts"),
                    ("mention", "Posts that mention me"),
                    ("report", "Reports of posts in all communities"),
                    ("health", "Troubles of the service"),
                ],
                max_length=12,
            ),
        ),
        migrations.AddConstraint(
            model_name="mailing",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "kind__in",
                        [
                            "decision",
                            "token",
                            "approval",
                            "moderation",
                            "request",
                            "answer",
                            "mention",
                            "report",
                            "health",
                        ],
                    )
                ),
                name="mailing_kind_known",
            ),
        ),
    ]
