"""Exports of what a person has stored here, and erasures of people (see `messaging.privacy`)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Self, TypeVar
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from kernel.api.ids import new_id
from kernel.jobs.leases import Leased, LeasedQuerySet
from messaging.models.account import Account

EXPORT_LIFETIME = timedelta(days=7)

Job = TypeVar("Job", bound=models.Model)


class ExportStatus(models.TextChoices):
    WAITING = "waiting"
    RUNNING = "running"
    READY = "ready"
    FAILED = "failed"


class ArchiveQuerySet(LeasedQuerySet[Job]):
    def unfinished(self) -> Self:
        return self.filter(status__in=[ExportStatus.WAITING, ExportStatus.RUNNING])


class Archive(Leased):
    """An archive of what an account has stored. It is in the database, which several hosts share, in `parts`."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    account_id: UUID
    parts: Any
    status = models.CharField(max_length=7, choices=ExportStatus, default=ExportStatus.WAITING)
    percent = models.PositiveSmallIntegerField(default=0)
    # How often a process has begun. An export that ends its process each time fails at last.
    attempts = models.PositiveSmallIntegerField(default=0)
    size = models.BigIntegerField(default=0)
    requested_at = models.DateTimeField(db_default=Now(), editable=False)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self._meta.verbose_name} {self.pk}: {self.status}"

    @property
    def is_unfinished(self) -> bool:
        return self.status in {ExportStatus.WAITING, ExportStatus.RUNNING}

    @property
    def expires_at(self) -> datetime:
        return self.requested_at + EXPORT_LIFETIME


class PersonExport(Archive):
    """For the person, who has asked for it."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, db_index=False, related_name="exports")

    objects = ArchiveQuerySet["PersonExport"].as_manager()

    class Meta:
        indexes = [models.Index("account", models.F("requested_at").desc(), name="exports_of_one")]
        constraints = [
            models.CheckConstraint(condition=Q(status__in=ExportStatus.values), name="export_status_known"),
            models.UniqueConstraint(
                fields=["account"],
                condition=Q(status__in=[ExportStatus.WAITING, ExportStatus.RUNNING]),
                name="one_export_at_a_time",
            ),
        ]


class AccountRecord(Archive):
    """For the super admin `by`, who has asked for it: with what was decided about the account (RECORD_EXPORTERS)."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    by = models.ForeignKey(Account, on_delete=models.SET_NULL, null=True, related_name="records")

    objects = ArchiveQuerySet["AccountRecord"].as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(status__in=ExportStatus.values), name="record_status_known"),
        ]


class ArchivePart(models.Model):
    """Some bytes of an archive; `number` counts from 0."""

    number = models.IntegerField()
    data = models.BinaryField()

    class Meta:
        abstract = True


class PersonExportPart(ArchivePart):
    pk = models.CompositePrimaryKey("export_id", "number")
    export = models.ForeignKey(PersonExport, on_delete=models.CASCADE, db_index=False, related_name="parts")


class AccountRecordPart(ArchivePart):
    pk = models.CompositePrimaryKey("record_id", "number")
    record = models.ForeignKey(AccountRecord, on_delete=models.CASCADE, db_index=False, related_name="parts")


class PostsChoice(models.TextChoices):
    """What happens with the posts of an erased person: they stay without an author, or are deleted."""

    ANONYMOUS = "anonymous"
    DELETED = "deleted"


class PersonErasure(Leased):
    """An erasure that a person has asked for. It can be cancelled until it begins; its row ends with the account."""

    # Longer than a batch, which renews the lease at its end and may search without an index.
    LEASE = timedelta(minutes=10)

    account = models.OneToOneField(Account, on_delete=models.CASCADE, primary_key=True, related_name="erasure")
    posts = models.CharField(max_length=9, choices=PostsChoice)
    requested_at = models.DateTimeField(db_default=Now(), editable=False)
    due_at = models.DateTimeField(db_index=True)
    # The accounts of agents that were stopped with the request, and are active again when it is cancelled.
    stopped_ids = ArrayField(models.UUIDField(), default=list)
    # Set when the erasure begins: the accounts that are erased, the person's first.
    started_at = models.DateTimeField(null=True)
    account_ids = ArrayField(models.UUIDField(), default=list)

    objects = LeasedQuerySet["PersonErasure"].as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(posts__in=PostsChoice.values), name="erasure_posts_known"),
        ]

    def __str__(self) -> str:
        return f"erasure of {self.account_id}"
