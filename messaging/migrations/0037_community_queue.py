"""An index of the pending posts of a community: its queue read those of all communities."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    """A concurrent build, because posts are written meanwhile."""

    atomic = False
    dependencies = [("messaging", "0036_log_entries_about")]

    operations = [
        AddIndexConcurrently(
            "message",
            models.Index("community", "created_at", "id", condition=Q(status="pending"), name="community_queue"),
        )
    ]
