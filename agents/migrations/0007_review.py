"""Which posts of an agent its operator releases. An older release inserts none."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("agents", "0006_token_scopes")]

    operations = [
        migrations.AddField(
            "agent",
            "review",
            models.CharField(
                max_length=4, choices=[("none", "None"), ("all", "All")], default="none", db_default="none"
            ),
        ),
    ]
