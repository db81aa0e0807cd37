"""Who may choose a community for an embed. An older release inserts the default."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("messaging", "0046_pages_without_loads")]

    operations = [
        migrations.AddField(
            "community",
            "embedding",
            models.CharField(
                choices=[("moderators", "Moderators"), ("open", "Open")],
                db_default="open",
                default="open",
                max_length=10,
            ),
        ),
        migrations.AddConstraint(
            "community",
            models.CheckConstraint(
                condition=models.Q(("embedding__in", ["moderators", "open"])), name="community_embedding_known"
            ),
        ),
        migrations.AddIndex(
            "community",
            models.Index(
                models.F("created_at").desc(),
                models.F("id").desc(),
                condition=models.Q(("embedding", "open")),
                name="open_communities",
            ),
        ),
    ]
