"""Whether a host was seen without TLS alone, so that the pages of sites say http where https would be wrong."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Nullable: of rows that an earlier release has written, this is not known."""

    dependencies = [("embeds", "0008_sightings_by_host")]

    operations = [migrations.AddField("sighting", "is_plain", models.BooleanField(null=True))]
