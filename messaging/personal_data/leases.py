"""Takes jobs, so that one process at a time runs each."""

from __future__ import annotations

from typing import TypeVar
from uuid import uuid4

from django.db import transaction
from django.db.models.functions import Now

from messaging.models.personal_data import LEASE, Leased, LeasedQuerySet

Job = TypeVar("Job", bound=Leased)


class LeaseLost(Exception):
    """Another process has taken the job over, or it was cancelled."""


@transaction.atomic
def take(due: LeasedQuerySet[Job]) -> Job | None:
    """Take one of the jobs, or None if there is none that no other process runs."""
    job = due.select_for_update(skip_locked=True, no_key=True, of=("self",)).first()
    if job is None:
        return None
    job.lease_id = uuid4()
    job.save(update_fields=["lease_id"])
    type(job)._default_manager.filter(pk=job.pk).update(leased_until=Now() + LEASE)
    return job


def require_lease(job: Leased) -> None:
    """Renew the lease of a job, at each batch. Raises LeaseLost."""
    if not job.renew():
        raise LeaseLost


def release(job: Leased) -> None:
    """Let another process take the job at once."""
    type(job)._default_manager.filter(pk=job.pk, lease_id=job.lease_id).update(lease_id=None, leased_until=None)
