"""Indexes of lists with tombstones, and of feeds without the posts of hidden threads.

Built concurrently, because posts are written meanwhile. An older release uses the indexes of lists for its own
statements; its feeds are slower until it is replaced.
"""

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models
from django.db.models import F, Q
from django.db.models.functions import Coalesce

PUBLISHED = Q(status="published")
LISTED = PUBLISHED | Q(is_tombstone=True)
REPLIES = Q(parent__isnull=False)
PUBLIC = PUBLISHED & Q(in_hidden_thread=False)
NEWEST = (F("created_at").desc(), F("id").desc())
BY_REACTIONS = (F("reaction_total").desc(), *NEWEST)
COMMUNITY = Coalesce("community", "id", output_field=models.UUIDField())
ADDED = [
    models.Index("page", *NEWEST, condition=LISTED & Q(parent=None), name="listed_posts"),
    models.Index("parent", *NEWEST, condition=LISTED & REPLIES, name="listed_replies"),
    models.Index("page", *BY_REACTIONS, condition=LISTED & Q(parent=None), name="listed_posts_by_reactions"),
    models.Index("parent", *BY_REACTIONS, condition=LISTED & REPLIES, name="listed_replies_by_reactions"),
    models.Index("parent", "is_tombstone", condition=Q(status="deleted") & REPLIES, name="deleted_replies"),
    models.Index("page", *NEWEST, condition=PUBLIC & REPLIES, name="feed_of_page_replies"),
    models.Index(COMMUNITY, *NEWEST, condition=PUBLIC & Q(community__isnull=False), name="feed_of_community"),
]
REPLACED = (
    *("page_posts", "post_replies", "page_posts_by_reactions", "post_replies_by_reactions"),
    *("page_replies", "community_posts"),
)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("messaging", "0013_edited_and_deleted_posts")]

    operations = [
        *(AddIndexConcurrently("message", index) for index in ADDED),
        *(RemoveIndexConcurrently("message", name) for name in REPLACED),
    ]
