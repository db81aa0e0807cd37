"""What operators decide on posts of their agents. An older release inserts null."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("messaging", "0062_unpublished_of_author")]

    operations = [
        migrations.AddField(
            "message",
            "operator_review",
            models.CharField(
                max_length=8,
                choices=[("waiting", "Waiting"), ("released", "Released"), ("rejected", "Rejected")],
                null=True,
                blank=True,
                editable=False,
            ),
        ),
    ]
