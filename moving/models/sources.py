"""What imports have written, by its id in the foreign system, so that each foreign post comes once."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Func, Q, Value

from messaging.models import Account, Community
from messaging.models.page import PAGE_ID_MAX
from moving.models.move import FORMAT_MAX, Move

SOURCE_ID_MAX = 200
EMAIL_MAX = 254


class OfSource(models.Model):
    """A record of the foreign system. A source is a community and a format: there, an id is written once.

    Of formats whose sites all number from 1, the address of the site precedes the id (see `moving.imports.sites`).

    There are no foreign keys to posts and pages, whose checks would cost as much as the rows.
    """

    community = models.ForeignKey(Community, on_delete=models.PROTECT, db_index=False, related_name="+")
    format = models.CharField(max_length=FORMAT_MAX)
    source_id = models.CharField(max_length=SOURCE_ID_MAX)

    class Meta:
        abstract = True


class ImportedPost(OfSource):
    """Which post has come of a foreign one. `id` grows from posts to their replies."""

    move = models.ForeignKey(Move, on_delete=models.PROTECT, db_index=False, related_name="posts")
    message_id = models.UUIDField(unique=True)
    # Not all reactions of the file are written yet (see `moving.imports.reactions`).
    lacks_reactions = models.BooleanField(default=False, db_default=False)

    class Meta:
        indexes = [
            models.Index("move", "id", name="posts_of_move"),
            # The id without the address of a site (see `moving.old_links`).
            models.Index(
                "community", Func(F("source_id"), Value("[^ ]*$"), function="substring"), name="foreign_posts_by_id"
            ),
        ]
        constraints = [models.UniqueConstraint(fields=["community", "format", "source_id"], name="foreign_post_once")]


class ImportedAuthor(OfSource):
    """Which account has the posts of a foreign author: one of its own, or that of the person who has claimed them.

    Once claimed, the author has a further row, and another account, for the posts of a later file: who imports that may
    have invented its author ids.
    """

    move = models.ForeignKey(Move, on_delete=models.PROTECT, related_name="authors")
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="imported_authors")
    # Lower case, as the foreign system has it; empty: unknown, or forgotten.
    email = models.CharField(max_length=EMAIL_MAX, blank=True, default="")
    # Null: nobody has claimed it.
    claimed_at = models.DateTimeField(null=True)
    # The person has been erased with all posts: those of a later import come without content, as deleted ones.
    posts_are_erased = models.BooleanField(default=False, db_default=False)

    class Meta:
        indexes = [
            models.Index("email", condition=~Q(email="") & Q(claimed_at=None), name="claimable_authors"),
            models.Index("community", "format", "source_id", name="rows_of_foreign_author"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["community", "format", "source_id"], condition=Q(claimed_at=None), name="unclaimed_author_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.format} {self.source_id}"


class ImportedPage(models.Model):
    """How many posts an import has added to a page, and how many of these the change log has announced."""

    pk = models.CompositePrimaryKey("move_id", "page_id")
    move = models.ForeignKey(Move, on_delete=models.CASCADE, db_index=False, related_name="pages")
    page_id = models.CharField(max_length=PAGE_ID_MAX)
    posts = models.IntegerField(default=0)
    announced = models.IntegerField(default=0)
