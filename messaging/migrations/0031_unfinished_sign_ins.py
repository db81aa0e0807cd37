"""Sign-ins whose second factor did not follow. An older release inserts the default, and shows them as refused."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("messaging", "0030_imports_in_the_log")]

    operations = [
        migrations.AddField("signin", "unfinished", models.BooleanField(db_default=False, default=False)),
    ]
