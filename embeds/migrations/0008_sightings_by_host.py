"""An index of the hosts on which embeds were loaded: normalizeUrl looks up the embeds of a page's host."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    """A concurrent build, because loads are written meanwhile."""

    atomic = False
    dependencies = [("embeds", "0007_embeds_of_community")]

    operations = [
        AddIndexConcurrently(
            "sighting",
            models.Index("host", "first_seen_at", condition=Q(is_refused=False), name="sightings_by_host"),
        )
    ]
