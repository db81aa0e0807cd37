"""An index of the hidden posts of a community: their list read the decisions on posts, which a job on many does not log."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import F, Q
from django.db.models.functions import Coalesce


class Migration(migrations.Migration):
    """A concurrent build, because posts are written meanwhile."""

    atomic = False
    dependencies = [("messaging", "0048_community_of_jobs")]

    operations = [
        AddIndexConcurrently(
            "message",
            models.Index(
                F("community"),
                Coalesce("decided_at", "created_at").desc(),
                F("id").desc(),
                condition=Q(status="hidden"),
                name="hidden_in_community",
            ),
        )
    ]
