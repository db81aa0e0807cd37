"""Rows that the database derives from posts: triggers on the table of posts write them (see migration 0010).

Every change of a post also changes these rows, in the same transaction. They have no foreign keys, whose checks would
cost as much as the rows. A rendering is written when a text is first read (`messaging.feeds.renderings`).
"""

from __future__ import annotations

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import F

from messaging.models.page import PAGE_ID_MAX


class PostCount(models.Model):
    """The published posts and replies of a page or a community: the sum of its rows.

    Transactions on different connections mostly add to rows of different slots, so that they do not wait for one
    another. A single row may be negative.
    """

    slot = models.SmallIntegerField()
    posts = models.IntegerField()
    replies = models.IntegerField()

    class Meta:
        abstract = True


class PageCount(PostCount):
    pk = models.CompositePrimaryKey("page_id", "slot")
    page_id = models.CharField(max_length=PAGE_ID_MAX)


class CommunityCount(PostCount):
    pk = models.CompositePrimaryKey("community_id", "slot")
    community_id = models.UUIDField()


class PageCommunityCount(PostCount):
    """Those of one community on a page."""

    pk = models.CompositePrimaryKey("page_id", "community_id", "slot")
    page_id = models.CharField(max_length=PAGE_ID_MAX)
    community_id = models.UUIDField()


class SearchEntry(models.Model):
    """The words of a published post, for full text search. Its own table: reactions rewrite the row of a post."""

    message_id = models.UUIDField(primary_key=True)
    page_id = models.CharField(max_length=PAGE_ID_MAX)
    community_id = models.UUIDField(null=True)
    created_at = models.DateTimeField()
    words = SearchVectorField()

    class Meta:
        indexes = [
            # New words wait in a list, which every search reads: it is short.
            GinIndex(fields=["words"], name="search_words", gin_pending_list_limit=512),
            # The condition is always true. PostgreSQL uses a partial index only for statements that state it,
            # as that for all posts does, and those for a page or a community do not.
            models.Index(
                F("created_at").desc(), F("message_id").desc(), condition=~models.Q(page_id=""), name="search_newest"
            ),
            models.Index("page_id", F("created_at").desc(), F("message_id").desc(), name="search_newest_of_page"),
            models.Index(
                *("community_id", F("created_at").desc(), F("message_id").desc()),
                condition=models.Q(community_id__isnull=False),
                name="search_newest_of_community",
            ),
        ]


class Rendering(models.Model):
    """What is shown of the text of a post; `source` is a digest of it. A trigger deletes the row with the text."""

    pk = models.CompositePrimaryKey("message_id", "source")
    message_id = models.UUIDField()
    source = models.BinaryField()
    renderer = models.BigIntegerField()
    html = models.TextField()
    plain = models.TextField()
