"""Whether an import has written a post. `moving` 0008 marks earlier ones. An older release inserts false."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("messaging", "0049_hidden_posts_of_community")]

    operations = [
        migrations.AddField(
            "message", "imported", models.BooleanField(db_default=False, default=False, editable=False)
        ),
    ]
