"""When moderators were last told of reported and pending posts. An older release tells them nothing in their inbox."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("messaging", "0051_closing_and_pins")]

    operations = [
        migrations.AddField("moderator", "told_of_pending_at", models.DateTimeField(editable=False, null=True)),
        migrations.AddField("moderator", "told_of_reports_at", models.DateTimeField(editable=False, null=True)),
    ]
