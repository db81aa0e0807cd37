"""An index of the accounts of sites by community, for the check of their foreign key."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    """A concurrent build, because accounts are made meanwhile."""

    atomic = False
    dependencies = [("messaging", "0064_site_community")]

    operations = [
        AddIndexConcurrently(
            "account",
            models.Index("site_community", condition=Q(site_community__isnull=False), name="accounts_of_sites"),
        )
    ]
