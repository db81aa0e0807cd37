"""What imports have written, by its id in the foreign system, so that each foreign post comes once.

Imports of posts from other comment systems, and their files.
"""

from __future__ import annotations

from django.db import models
from django.db.models import F, Func, Q, Value
from django.db.models.functions import Now

from kernel.api.ids import new_id
from kernel.jobs.leases import Leased, LeasedQuerySet
from messaging.models import Account, Community
from messaging.models.page import PAGE_ID_MAX

FORMAT_MAX = 20
FILE_NAME_MAX = 255
DIGEST_MAX = 64
STEP_MAX = 8


class MoveStatus(models.TextChoices):
    """`uploaded`: a dry run is due; `checked`: it waits for the person who decides; `waiting`: it is to begin."""

    UPLOADED = "uploaded"
    CHECKED = "checked"
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    UNDOING = "undoing"
    UNDONE = "undone"


# A process that writes goes on while another one that runs the same import has ended it.
WRITABLE = (MoveStatus.RUNNING, MoveStatus.DONE)
UNDO_STATES = (MoveStatus.UNDOING, MoveStatus.UNDONE)
CAN_UNDO = (MoveStatus.RUNNING, MoveStatus.DONE, MoveStatus.FAILED)
# Of an import whose file is uploaded again; the first time, there is nothing to undo.
CAN_UNDO_POSTS = (MoveStatus.UPLOADED, MoveStatus.CHECKED, MoveStatus.WAITING)
# What a background process takes. Commands run their own imports, which have no upload.
DUE = Q(status=MoveStatus.UNDOING) | Q(
    has_upload=True, status__in=[MoveStatus.UPLOADED, MoveStatus.WAITING, MoveStatus.RUNNING]
)


class Move(Leased):
    """An import of one file into a community. Runs of the same file continue the same import."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    community = models.ForeignKey(Community, on_delete=models.PROTECT, db_index=False, related_name="moves")
    # Null: a command, or an account that is erased.
    started_by = models.ForeignKey(Account, on_delete=models.SET_NULL, null=True, related_name="moves")
    format = models.CharField(max_length=FORMAT_MAX)
    file_name = models.CharField(max_length=FILE_NAME_MAX)
    # SHA-256 of the file in hexadecimal, and its size in bytes.
    digest = models.CharField(max_length=DIGEST_MAX)
    size = models.BigIntegerField()
    status = models.CharField(max_length=8, choices=MoveStatus)
    # The file is stored in parts.
    has_upload = models.BooleanField(default=False)
    # {"map": ["OLD=NEW", …]}
    options = models.JSONField(default=dict)
    # By name: what the last run has found (see `moving.imports.running.Result`).
    counts = models.JSONField(default=dict)
    # Of a dry run: the first posts, until the import begins or is undone, or its file is deleted.
    preview = models.JSONField(default=list)
    # The current step (see `moving.imports.progress`); empty: none has begun. How much of it is done, and of how much,
    # in bytes or posts.
    step = models.CharField(max_length=STEP_MAX, default="", db_default="", blank=True)
    done = models.BigIntegerField(default=0)
    total = models.BigIntegerField(default=0)
    # Why it has failed, one sentence.
    error = models.TextField(default="", blank=True)
    # How often a background process has begun it. One that ends its process each time fails at last.
    attempts = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    finished_at = models.DateTimeField(null=True)

    objects = LeasedQuerySet["Move"].as_manager()

    class Meta:
        indexes = [models.Index("community", models.F("created_at").desc(), name="moves_of_community")]
        constraints = [
            models.CheckConstraint(condition=Q(status__in=MoveStatus.values), name="move_status_known"),
            models.UniqueConstraint(
                fields=["community", "format", "digest"],
                condition=~Q(status=MoveStatus.UNDONE),
                name="one_import_of_a_file",
            ),
        ]

    def __str__(self) -> str:
        return f"import of {self.file_name}: {self.status}"

    @property
    def percent(self) -> int:
        return min(100, 100 * self.done // self.total) if self.total else 0

    @property
    def map(self) -> list[str]:
        texts: list[str] = self.options.get("map", [])
        return texts

    @property
    def is_under_way(self) -> bool:
        return self.status in {MoveStatus.UPLOADED, MoveStatus.WAITING, MoveStatus.RUNNING, MoveStatus.UNDOING}

    @property
    def can_start(self) -> bool:
        return self.has_upload and self.status in {MoveStatus.CHECKED, MoveStatus.FAILED}

    @property
    def can_undo(self) -> bool:
        return self.status in CAN_UNDO or (self.status in CAN_UNDO_POSTS and self.posts.exists())


class MovePart(models.Model):
    """Some bytes of an uploaded file, or of a report. In the database, which several hosts share."""

    class Kind(models.TextChoices):
        UPLOAD = "upload"
        REPORT = "report"

    pk = models.CompositePrimaryKey("move_id", "kind", "number")
    move = models.ForeignKey(Move, on_delete=models.CASCADE, db_index=False, related_name="parts")
    kind = models.CharField(max_length=6, choices=Kind)
    number = models.IntegerField()
    data = models.BinaryField()


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
