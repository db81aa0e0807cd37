"""Indexes of the posts of one community on a page, which its widget shows."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import F, Q, UUIDField
from django.db.models.functions import Coalesce

SHOWN = Q(Q(status="published") | Q(is_tombstone=True), parent=None, community__isnull=False)
NEWEST = (F("created_at").desc(), F("id").desc())


class Migration(migrations.Migration):
    """Concurrent builds, because posts are written meanwhile."""

    atomic = False
    dependencies = [("messaging", "0044_counts_of_communities_on_pages")]

    operations = [
        AddIndexConcurrently(
            "message",
            models.Index(
                *("page", Coalesce("community", "id", output_field=UUIDField()), *NEWEST),
                condition=SHOWN,
                name="shown_posts",
            ),
        ),
        AddIndexConcurrently(
            "message",
            models.Index(
                *("page", Coalesce("community", "id", output_field=UUIDField()), F("reaction_total").desc(), *NEWEST),
                condition=SHOWN,
                name="shown_posts_by_reactions",
            ),
        ),
    ]
