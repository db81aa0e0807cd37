"""An index of the pending posts of a page, which the widget shows to moderators."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    """A concurrent build, because posts are written meanwhile."""

    atomic = False
    dependencies = [("messaging", "0052_moderators_told")]

    operations = [
        AddIndexConcurrently(
            "message",
            models.Index(
                *("page", "community", "created_at", "id"), condition=Q(status="pending"), name="queue_of_page"
            ),
        ),
    ]
