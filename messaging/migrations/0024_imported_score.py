"""The votes of an imported post. An older release inserts null."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("messaging", "0023_posts_of_author")]

    operations = [
        migrations.AddField("message", "imported_score", models.IntegerField(blank=True, editable=False, null=True)),
    ]
