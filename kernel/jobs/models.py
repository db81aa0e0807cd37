from __future__ import annotations

from django.db import models
from django.db.models.functions import Now
from procrastinate.contrib.django.models import ProcrastinateJob

HOST_MAX = 40
ERROR_MAX = 300


class JobNote(models.Model):
    """What the engine does not store about a job: the host that began it last, and why its last attempt failed.

    It is deleted with its job by a foreign key of the database, since the engine deletes by SQL.
    """

    job_id = models.BigIntegerField(primary_key=True)
    host = models.CharField(max_length=HOST_MAX, blank=True)
    error = models.CharField(max_length=ERROR_MAX, blank=True, default="", db_default="")
    at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"job {self.job_id}: {self.error or self.host}"


class QueuedJob(ProcrastinateJob):
    """A job of the engine, under the name that people read."""

    class Meta:
        proxy = True
        verbose_name = "background job"

    def __str__(self) -> str:
        kind, _, _row = (self.lock or self.task_name).partition(" ")
        return f"{kind} {self.pk}"
