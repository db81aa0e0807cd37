from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import F, Q

PUBLISHED = Q(status="published")
BY_REACTIONS = (F("reaction_total").desc(), F("created_at").desc(), F("id").desc())


class Migration(migrations.Migration):
    """Concurrent builds, because posts are written meanwhile. An older release does not use the indexes."""

    atomic = False
    dependencies = [("messaging", "0010_derived_from_posts")]

    operations = [
        AddIndexConcurrently(
            model_name="message",
            index=models.Index(
                "page", *BY_REACTIONS, condition=PUBLISHED & Q(parent=None), name="page_posts_by_reactions"
            ),
        ),
        AddIndexConcurrently(
            model_name="message",
            index=models.Index(
                "parent",
                *BY_REACTIONS,
                condition=PUBLISHED & Q(parent__isnull=False),
                name="post_replies_by_reactions",
            ),
        ),
        AddIndexConcurrently(
            model_name="community",
            index=models.Index(F("created_at").desc(), F("id").desc(), name="newest_communities"),
        ),
    ]
