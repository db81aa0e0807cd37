"""Indexes of the embeds of a community: the list of its moderators, and the word lists that its posts are compared with."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import F, Q


class Migration(migrations.Migration):
    """Locks no table: embeds are changed meanwhile."""

    atomic = False
    dependencies = [("embeds", "0006_host_proofs")]

    operations = [
        AddIndexConcurrently(
            "embed",
            models.Index(
                F("community"),
                F("created_at").desc(),
                F("id").desc(),
                condition=Q(deleted_at=None),
                name="community_embeds",
            ),
        ),
        AddIndexConcurrently(
            "embed",
            models.Index(
                F("community"), condition=Q(("deleted_at", None), ~Q(blocked_words=[])), name="embeds_with_words"
            ),
        ),
    ]
