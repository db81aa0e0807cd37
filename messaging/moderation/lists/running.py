"""Carries out the jobs of the admin, a slice at a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from uuid import UUID

from django.contrib import admin
from django.db import transaction
from django.db.models import Model

from kernel.admin.actions import AdminAction, error_text
from kernel.admin.model_admin import ReadOnlyModelAdmin
from kernel.api.exceptions import ApiError
from kernel.jobs.leases import LeaseLost, release, require_lease, take
from kernel.jobs.queue import RowJob, enqueue
from kernel.writes.transaction import retried
from messaging.accounts.services import command_line
from messaging.communities.moderators import moderates
from messaging.models import Account, BulkJob, JobState
from messaging.moderation.bulk_jobs import count_rows, finish_job, stop_job
from messaging.moderation.services import BATCH, hide_batch, posts_hidden_together, posts_to_hide, restore_batch

# So long a request works on a job before it reports.
SLICE_SECONDS = 1.0
# The name of the job of the worker.
NAME = "desk_jobs"


class JobInterrupted(Exception):
    """The job was stopped, or another process has its lease. Undoes the row that is under way."""


def run_slice(job_id: UUID, *, seconds: float = SLICE_SECONDS) -> BulkJob:
    """Work on a job for some time, unless another process does; returns the job as it is then.

    A job whose super admin or moderator cannot decide any more is stopped.
    """
    job = take(BulkJob.objects.unleased().filter(pk=job_id, state=JobState.RUNNING))
    if job is not None:
        try:
            if _may_go_on(job):
                _work(job, until=time.monotonic() + seconds)
            else:
                stop_job(job_id=job.pk, by=command_line(), reason="Who started it cannot decide any more.")
        finally:
            release(job)
    return BulkJob.objects.select_related("by", "about").defer("ids", "undoes").get(pk=job_id)


def run_now(job: BulkJob) -> BulkJob:
    """Work on a job that was started: the few rows of most jobs are changed at once, a worker does the rest."""
    job = run_slice(job.pk)
    if job.state == JobState.RUNNING:
        run_soon(job)
    return job


def run_soon(job: BulkJob) -> None:
    """Have a worker carry the job out, whether or not a page of it is open."""
    enqueue(NAME, job.pk)


def run_to_end(job_id: UUID, *, report: Callable[[BulkJob], None] = lambda _job: None) -> BulkJob:
    """Ends earlier if the job is stopped, or if another process runs it."""
    before = -1
    while (job := run_slice(job_id)).state == JobState.RUNNING and job.position != before:
        before = job.position
        report(job)
    return job


def _carry_out(job: BulkJob) -> None:
    """Raises LeaseLost while another process works on the job, which this one does not interrupt."""
    release(job)
    if run_to_end(job.pk).state == JobState.RUNNING:
        raise LeaseLost


JOBS_OF_THE_DESK = RowJob(
    NAME, lambda: BulkJob.objects.filter(state=JobState.RUNNING).order_by("created_at"), _carry_out
)


def find_action(kind: str) -> tuple[ReadOnlyModelAdmin, AdminAction] | None:
    """The admin and the action of a kind `app.model:action`."""
    label, _, name = kind.partition(":")
    for model, rows in admin.site._registry.items():
        if model._meta.label_lower == label and isinstance(rows, ReadOnlyModelAdmin):
            return next(((rows, action) for action in rows.row_actions if action.name == name), None)
    return None


def may_decide(by: Account | None) -> bool:
    """The account of the command line, which has no password, is inactive."""
    return by is not None and (by.is_of_service or by.can_act)


def _may_go_on(job: BulkJob) -> bool:
    if not may_decide(job.by):
        return False
    return job.community_id is None or (job.by is not None and moderates(job.by, job.community_id))


def _work(job: BulkJob, *, until: float) -> None:
    step = _batch if job.kind in {BulkJob.HIDE_POSTS, BulkJob.RESTORE_POSTS} else _row
    try:
        while step(job):
            require_lease(job)
            if time.monotonic() > until:
                return
    except (JobInterrupted, LeaseLost):
        return
    finish_job(job)


def _batch(job: BulkJob) -> bool:
    """Hide or restore the next posts of the account; False after the last one."""
    if job.about is None or job.by is None:
        return False
    if job.ids:
        rows = job.next_rows(BATCH)
    else:
        posts = posts_to_hide(job.about) if job.kind == BulkJob.HIDE_POSTS else posts_hidden_together(job.about)
        rows = dict.fromkeys(posts.order_by("id").values_list("id", flat=True)[:BATCH])
    if rows:
        done, refused = _change_batch(job, rows, by=job.by)
        job.done += done
        job.refused += refused
    return bool(rows)


@retried
@transaction.atomic
def _change_batch(job: BulkJob, rows: dict[UUID, datetime | None], *, by: Account) -> tuple[int, int]:
    """Change posts, and count and record them; returns how many were changed and refused."""
    changed = (hide_batch if job.kind == BulkJob.HIDE_POSTS else restore_batch)(rows, by, job.reason)
    # A job on all posts leaves those that others have changed meanwhile.
    refused = len(rows) - len(changed) if job.ids else 0
    error = f"{refused} of the posts have another status now, or were decided on since" if refused else ""
    if not count_rows(job, changed=changed, refused=refused, error=error):
        raise JobInterrupted
    return len(changed), refused


def _row(job: BulkJob) -> bool:
    """The next row and its count in one transaction, so that no row is decided twice; False after the last one."""
    found = find_action(job.kind)
    if found is None or job.position >= len(job.ids):
        return False
    rows, action = found
    ((row_id, decided_at),) = job.next_rows(1).items()
    row = rows.model._default_manager.filter(pk=row_id).first()
    error = _perform(job, action, row, decided_at)
    if error and not count_rows(job, refused=1, error=error):
        raise JobInterrupted
    if error:
        job.refused += 1
    else:
        job.done += 1
    return True


def _perform(job: BulkJob, action: AdminAction, row: Model | None, decided_at: datetime | None) -> str:
    if row is None:
        return "the row does not exist any more"
    try:
        _decide(job, action, row, decided_at)
    except ApiError as refusal:
        # The id, since the name of a row may be that of a person, who may be erased.
        return f"{row.pk}: {error_text(refusal)}"
    return ""


@retried
@transaction.atomic
def _decide(job: BulkJob, action: AdminAction, row: Model, decided_at: datetime | None) -> None:
    own = action.carry_out(row, seen_at=job.created_at, decided_at=decided_at, by=job.by, reason=job.reason)
    if not count_rows(job, changed={row.pk: own}):
        raise JobInterrupted
