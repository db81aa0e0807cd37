from __future__ import annotations

from django.db import models
from django.db.models import Func, Q, Value
from django.db.models.functions import Now

TYPE_MAX = 20
PAGE_ID_MAX = 35
CLUSTER_MAX = 40
PUBLIC = Q(account_id__isnull=True)


class Change(models.Model):
    """A row of the change log: a public change, or (with `account_id`) an event of that account's inbox.

    Rows are ordered by (xid, id): the id of the transaction that wrote the row, and a sequence (see
    `kernel.changes.reading`). There are no foreign keys, so that an insert locks nothing. The rows contain no text of
    posts, which readers get from the posts.
    """

    pk = models.CompositePrimaryKey("xid", "id")
    # With the timeline of PostgreSQL in its highest 16 bits.
    xid = models.BigIntegerField(db_default=Func(function="changes_xid"))
    id = models.BigIntegerField(db_default=Func(Value("changes_change_id"), function="nextval"))
    type = models.CharField(max_length=TYPE_MAX)
    at = models.DateTimeField(db_default=Func(function="clock_timestamp"))
    page_id = models.CharField(max_length=PAGE_ID_MAX, null=True)  # noqa: DJ001  null: the event has no page
    community_id = models.UUIDField(null=True)
    message_id = models.UUIDField(null=True)
    account_id = models.UUIDField(null=True)
    # The account that acted, and the account's own post that was answered or quoted.
    actor_id = models.UUIDField(null=True)
    about_id = models.UUIDField(null=True)
    data = models.JSONField(null=True)

    class Meta:
        indexes = [
            models.Index("page_id", "xid", "id", condition=PUBLIC & Q(page_id__isnull=False), name="changes_of_page"),
            models.Index(
                "community_id",
                "xid",
                "id",
                condition=PUBLIC & Q(community_id__isnull=False),
                name="changes_of_community",
            ),
            models.Index("account_id", "xid", "id", condition=~PUBLIC, name="changes_of_account"),
        ]


class ChangeLog(models.Model):
    """The state of the log, one row.

    Cursors name the `generation`: it changes when the log goes on in another cluster (`kernel.changes.restored`). Rows
    up to the pruned position are deleted.
    """

    id = models.SmallIntegerField(primary_key=True, default=1)
    generation = models.SmallIntegerField(default=0)
    pruned_xid = models.BigIntegerField(default=0)
    pruned_id = models.BigIntegerField(default=0)
    # The cluster that the positions belong to, and its timeline: the result of `changes_cluster()`.
    cluster = models.CharField(max_length=CLUSTER_MAX, default="")
    updated_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="one_change_log")]

    def __str__(self) -> str:
        return f"generation {self.generation}"


class ReadPosition(models.Model):
    """The position up to which an account has read its inbox (`kernel.changes.unread`)."""

    account_id = models.UUIDField(primary_key=True)
    xid = models.BigIntegerField()
    row_id = models.BigIntegerField()
