"""Decisions of super admins on many rows, which are carried out step by step, and lists that they have saved."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from kernel.admin.actions import REASON_MAX
from kernel.api.ids import new_id
from kernel.jobs.leases import Leased, LeasedQuerySet
from messaging.models.account import Account
from messaging.models.community import Community

ERRORS_MAX = 20
ERROR_MAX = 300
LABEL_MAX = 200
NAME_MAX = 60
QUERY_MAX = 1_000
SAVED_MAX = 20


class JobState(models.TextChoices):
    RUNNING = "running"
    STOPPED = "stopped"
    FINISHED = "finished"


class BulkJob(Leased):
    """An action on many rows. Who takes its lease carries out a slice of it; a crash repeats no row.

    `kind` is `app.model:action` for the rows `ids`, in this order, or one of `HIDE_POSTS` and `RESTORE_POSTS` for the
    posts of the account `about`: all, or those with `ids`. With `community`, a moderator has decided, for posts there.
    """

    HIDE_POSTS = "posts:hide"
    RESTORE_POSTS = "posts:restore"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    kind = models.CharField(max_length=64)
    label = models.CharField(max_length=LABEL_MAX)
    by = models.ForeignKey(Account, on_delete=models.SET_NULL, null=True, related_name="+")
    about = models.ForeignKey(Account, on_delete=models.CASCADE, null=True, related_name="+")
    community = models.ForeignKey(Community, on_delete=models.CASCADE, null=True, related_name="+")
    reason = models.CharField(max_length=REASON_MAX, blank=True)
    ids = ArrayField(models.UUIDField(), default=list)
    # Of a job that undoes decisions: the `decided_at` that each row of `ids` has by the decision to undo.
    undoes = ArrayField(models.DateTimeField(null=True), null=True)
    total = models.PositiveIntegerField()
    done = models.PositiveIntegerField(default=0)
    refused = models.PositiveIntegerField(default=0)
    # What the first refusals said.
    errors = ArrayField(models.CharField(max_length=ERROR_MAX), default=list)
    state = models.CharField(max_length=8, choices=JobState, default=JobState.RUNNING)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    finished_at = models.DateTimeField(null=True)

    objects = LeasedQuerySet["BulkJob"].as_manager()

    class Meta:
        indexes = [
            models.Index("created_at", condition=Q(state=JobState.RUNNING), name="running_jobs"),
        ]
        constraints = [models.CheckConstraint(condition=Q(state__in=JobState.values), name="bulk_job_state_known")]

    def __str__(self) -> str:
        return self.label

    @property
    def position(self) -> int:
        """How many rows are behind it."""
        return self.done + self.refused

    @property
    def percent(self) -> int:
        return min(100, 100 * self.position // self.total) if self.total else 0

    def next_rows(self, number: int) -> dict[UUID, datetime | None]:
        """The next of `ids`, each with its time in `undoes`."""
        part = slice(self.position, self.position + number)
        ids = self.ids[part]
        return dict(zip(ids, self.undoes[part] if self.undoes else [None] * len(ids), strict=True))


class ChangedRow(models.Model):
    """A row that a job has changed, until another job begins to undo it."""

    job = models.ForeignKey(BulkJob, on_delete=models.CASCADE, related_name="changed_rows")
    # Without a foreign key: the kind of the job names the table.
    row_id = models.UUIDField()
    # That of the row after the change, if it has one: a later decision on the row is not undone.
    decided_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return str(self.row_id)


class SavedList(models.Model):
    """The address of a list of the admin with its filters, under a name that a super admin gave it."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, db_index=False, related_name="+")
    # `app.model` of the list.
    of = models.CharField(max_length=64)
    name = models.CharField(max_length=NAME_MAX)
    query = models.CharField(max_length=QUERY_MAX, blank=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["account", "of", "name"], name="one_saved_list_of_a_name")]

    def __str__(self) -> str:
        return self.name
