"""Starts, stops and continues jobs on many rows. Callers check that `by` is a super admin."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from config.admin.audit import log_decision, transition
from config.writes.pruning import delete_in_batches
from config.writes.retries import retried
from messaging.exceptions import JobFinished, TooManyRows
from messaging.models import Account, Act, BulkJob, JobState
from messaging.models.desk import ERRORS_MAX, LABEL_MAX
from messaging.services.hiding import log_all_posts, posts_hidden_together, posts_to_hide

ROWS_MAX = 100_000
STORED_DAYS = 90


@retried
@transaction.atomic
def start_job(*, kind: str, label: str, ids: Sequence[UUID], by: Account, reason: str = "") -> BulkJob:
    """A job on rows, in this order. Raises TooManyRows (422)."""
    if len(ids) > ROWS_MAX:
        raise TooManyRows(max=ROWS_MAX)
    job = BulkJob.objects.create(
        kind=kind, label=label[:LABEL_MAX], ids=list(ids), total=len(ids), by_id=by.pk, reason=reason
    )
    log_decision(by=by, about=job, verb="Started", reason=reason)
    return job


def record_job(*, kind: str, label: str, ids: Sequence[UUID], by: Account, reason: str = "") -> BulkJob:
    """A finished job on rows that were changed at once, so that they can be undone together."""
    done: dict[str, Any] = {"ids": list(ids), "total": len(ids), "done": len(ids)}
    ended = {"state": JobState.FINISHED, "finished_at": Now()}
    return BulkJob.objects.create(kind=kind, label=label[:LABEL_MAX], by_id=by.pk, reason=reason, **done, **ended)


@retried
@transaction.atomic
def start_on_posts_of(author: Account, *, kind: str, by: Account, reason: str = "") -> BulkJob:
    """A job that hides (HIDE_POSTS) or restores (RESTORE_POSTS) all posts by an account."""
    hides = kind == BulkJob.HIDE_POSTS
    posts = posts_to_hide(author) if hides else posts_hidden_together(author)
    count = posts.count()
    log_all_posts(posts, Act.HIDDEN if hides else Act.RESTORED, count=count, by=by, author=author, reason=reason)
    label = f"{'Hide' if hides else 'Restore'} all posts of {author}"
    return BulkJob.objects.create(kind=kind, label=label, about=author, total=count, by_id=by.pk, reason=reason)


@retried
@transaction.atomic
def stop_job(*, job_id: UUID, by: Account, reason: str = "") -> BulkJob:
    """Stop a job after the row or batch that is under way. Raises JobFinished (409)."""
    return _move(job_id, JobState.STOPPED, by=by, reason=reason)


@retried
@transaction.atomic
def continue_job(*, job_id: UUID, by: Account, reason: str = "") -> BulkJob:
    """Continue a job that was stopped. Raises JobFinished (409)."""
    return _move(job_id, JobState.RUNNING, by=by, reason=reason)


def count_row(job: BulkJob, *, done: int = 0, error: str = "") -> bool:
    """Count rows that were changed, or one that was refused; False if the job was stopped or has another lease."""
    own = BulkJob.objects.filter(pk=job.pk, lease_id=job.lease_id, state=JobState.RUNNING)
    changes: dict[str, Any] = {"done": F("done") + done, "refused": F("refused") + int(bool(error))}
    if error and len(job.errors) < ERRORS_MAX:
        job.errors.append(error[:300])
        changes |= {"errors": job.errors}
    return own.update(**changes) == 1


def finish_job(job: BulkJob) -> None:
    own = BulkJob.objects.filter(pk=job.pk, lease_id=job.lease_id, state=JobState.RUNNING)
    own.update(state=JobState.FINISHED, finished_at=Now())


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """Delete or count the jobs that were started STORED_DAYS ago and do not run, for the command `prune`."""
    old = BulkJob.objects.exclude(state=JobState.RUNNING).filter(created_at__lt=now - timedelta(days=STORED_DAYS))
    return {"jobs of the admin": old.count() if dry_run else delete_in_batches(old)}


def _move(job_id: UUID, state: JobState, *, by: Account, reason: str) -> BulkJob:
    job = BulkJob.objects.select_for_update().get(pk=job_id)
    if job.state == JobState.FINISHED:
        raise JobFinished
    if job.state != state:
        verb = transition("Stopped" if state == JobState.STOPPED else "Continued", job.state, state)
        job.state = state
        job.save(update_fields=["state"])
        log_decision(by=by, about=job, verb=verb, reason=reason)
    return job
