"""Whose posts a widget shows: from now on those of its community, unless its owner decides otherwise."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """The default stays in the database: an older release that runs beside this one does not name the column."""

    dependencies = [("embeds", "0004_sightings")]

    operations = [
        migrations.AddField(
            "embed",
            "shows",
            models.CharField(
                choices=[("community", "Community"), ("everyone", "Everyone")],
                db_default="community",
                default="community",
                max_length=9,
            ),
        ),
        migrations.AddConstraint(
            "embed",
            models.CheckConstraint(condition=models.Q(shows__in=["community", "everyone"]), name="embed_shows_known"),
        ),
    ]
