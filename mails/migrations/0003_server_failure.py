"""What the operator has to mend, for the health of the service. An older release neither reads nor writes it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("mails", "0002_notices_of_super_admins")]

    operations = [
        migrations.AddField(
            "collector",
            "server_failure",
            models.CharField(blank=True, db_default="", default="", max_length=300),
        ),
    ]
