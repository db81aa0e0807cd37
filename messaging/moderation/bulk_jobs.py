"""Starts, stops and continues jobs on many rows. Callers check what `by` may decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F, Func, QuerySet, Value
from django.db.models.functions import Now

from kernel.admin.audit import log_decision, transition
from kernel.database.sql import allow_long_statements
from kernel.writes.deletion import delete_in_batches
from kernel.writes.transaction import retried
from messaging.models import Account, Act, BulkJob, ChangedRow, Community, JobState, Message, MessageStatus
from messaging.models.desk import ERROR_MAX, ERRORS_MAX, LABEL_MAX
from messaging.moderation.decisions import log_about_community, note_for_communities
from messaging.moderation.exceptions import AccountNotFound, JobFinished, JobNotUndoable, TooManyRows
from messaging.moderation.services import log_all_posts, posts_hidden_together, posts_to_hide
from messaging.posts.exceptions import NotInThisState
from messaging.posts.rights import LONG_STATEMENT_SECONDS

ACTS = {BulkJob.HIDE_POSTS: Act.HIDDEN, BulkJob.RESTORE_POSTS: Act.RESTORED}
ROWS_MAX = 100_000
STORED_DAYS = 90


@retried
@transaction.atomic
def start_job(
    *, kind: str, label: str, ids: Sequence[UUID], by: Account, reason: str = "", undoes: Sequence[datetime | None] = ()
) -> BulkJob:
    """A job on rows, in this order, which may undo the decisions of the times `undoes`. Raises TooManyRows (422)."""
    if len(ids) > ROWS_MAX:
        raise TooManyRows(max=ROWS_MAX)
    rows: dict[str, Any] = {"ids": list(ids), "undoes": list(undoes) or None, "total": len(ids)}
    job = BulkJob.objects.create(kind=kind, label=label[:LABEL_MAX], by_id=by.pk, reason=reason, **rows)
    log_decision(by=by, about=job, verb="Started", reason=reason)
    return job


@retried
@transaction.atomic
def record_job(
    *, kind: str, label: str, changed: Mapping[UUID, datetime | None], by: Account, reason: str = ""
) -> BulkJob:
    """A finished job on rows that were changed at once, with their `decided_at`: they can be undone together."""
    done: dict[str, Any] = {"ids": list(changed), "total": len(changed), "done": len(changed)}
    ended = {"state": JobState.FINISHED, "finished_at": Now()}
    job = BulkJob.objects.create(kind=kind, label=label[:LABEL_MAX], by_id=by.pk, reason=reason, **done, **ended)
    _record(job, changed)
    return job


@retried
@transaction.atomic
def start_on_posts_of(author: Account, *, kind: str, by: Account, reason: str = "") -> BulkJob:
    """A job that hides (HIDE_POSTS) or restores (RESTORE_POSTS) all posts by an account; the opposite one is stopped.

    Raises AccountNotFound (404) for an account of the service: the posts of an heir are of many people; and for one
    that was deleted meanwhile, by an erasure or a claim.
    """
    if author.is_of_service or not Account.objects.select_for_update(no_key=True).filter(pk=author.pk):
        raise AccountNotFound
    _stop_opposite(author.pk, kind, by=by)
    allow_long_statements(LONG_STATEMENT_SECONDS)
    hides = kind == BulkJob.HIDE_POSTS
    posts = posts_to_hide(author) if hides else posts_hidden_together(author)
    count = posts.count()
    log_all_posts(posts, ACTS[kind], count=count, by=by, author=author, reason=reason)
    label = f"{'Hide' if hides else 'Restore'} all posts of {author}"
    return BulkJob.objects.create(kind=kind, label=label, about=author, total=count, by_id=by.pk, reason=reason)


@retried
@transaction.atomic
def start_on_posts_in(community: Community, author: Account, *, by: Account, reason: str = "") -> BulkJob:
    """A job that hides all published and pending posts of an account in a community: the newest ROWS_MAX.

    It has their ids, so it ends however many are written meanwhile. Raises AccountNotFound (404) as
    `start_on_posts_of`, or NotInThisState (409) without such a post.
    """
    if author.is_of_service or not Account.objects.select_for_update(no_key=True).filter(pk=author.pk):
        raise AccountNotFound
    allow_long_statements(LONG_STATEMENT_SECONDS)
    posts = posts_to_hide(author).filter(community=community).order_by("-id")
    ids = list(posts.values_list("id", flat=True)[:ROWS_MAX])
    if not ids:
        raise NotInThisState(status=MessageStatus.HIDDEN)
    verb = f"All posts by {author} {Act.HIDDEN} ({len(ids)})"
    log_about_community(community, Act.HIDDEN, by=by, verb=verb, reason=reason, account=author)
    label = f"Hide all posts of {author} in {community}"[:LABEL_MAX]
    chosen: dict[str, Any] = {"ids": ids, "total": len(ids), "about": author, "community": community}
    return BulkJob.objects.create(kind=BulkJob.HIDE_POSTS, label=label, by_id=by.pk, reason=reason, **chosen)


@retried
@transaction.atomic
def start_undo(*, job_id: UUID, kind: str, by: Account, reason: str = "") -> BulkJob:
    """A job of the kind `kind` on the rows that a job has changed. They are no longer among its changed rows.

    So a row is undone once, and another undo follows if the job is continued. It refuses rows that were decided on
    since. Raises JobNotUndoable (409).
    """
    allow_long_statements(LONG_STATEMENT_SECONDS)
    undone = (
        BulkJob.objects.select_for_update(of=("self",)).select_related("about").defer("ids", "undoes").get(pk=job_id)
    )
    changed = ChangedRow.objects.filter(job=undone)
    # A job on all posts changes a post twice if it is restored meanwhile.
    rows = dict(changed.order_by("pk").values_list("row_id", "decided_at"))
    if not kind or not rows or undone.state == JobState.RUNNING:
        raise JobNotUndoable
    label = f"Undo: {undone.label}"[:LABEL_MAX]
    decided: dict[str, Any] = {"ids": list(rows), "undoes": list(rows.values()), "total": len(rows)}
    of_undone = {"about": undone.about, "community_id": undone.community_id}
    job = BulkJob.objects.create(kind=kind, label=label, by_id=by.pk, reason=reason, **of_undone, **decided)
    _log_undo(job, changed, by=by)
    changed.delete()
    return job


@retried
@transaction.atomic
def stop_job(*, job_id: UUID, by: Account, reason: str = "") -> BulkJob:
    """Stop a job after the row or batch that is under way. Raises JobFinished (409)."""
    return _move(job_id, JobState.STOPPED, by=by, reason=reason)


@retried
@transaction.atomic
def continue_job(*, job_id: UUID, by: Account, reason: str = "") -> BulkJob:
    """Continue a job that was stopped; `by` decides the rest. The opposite one is stopped. Raises JobFinished (409)."""
    on_all_posts = BulkJob.objects.filter(pk=job_id, ids=[])
    list(Account.objects.select_for_update(no_key=True).filter(pk__in=on_all_posts.values("about")))
    job = _move(job_id, JobState.RUNNING, by=by, reason=reason)
    if job.about_id is not None and not job.ids:
        _stop_opposite(job.about_id, job.kind, by=by)
    return job


def count_rows(
    job: BulkJob, *, changed: Mapping[UUID, datetime | None] | None = None, refused: int = 0, error: str = ""
) -> bool:
    """Count and record rows that were changed, in the same transaction, and count those that were refused.

    False if the job was stopped or has another lease.
    """
    changed = changed or {}
    own = BulkJob.objects.filter(pk=job.pk, lease_id=job.lease_id, state=JobState.RUNNING)
    changes: dict[str, Any] = {"done": F("done") + len(changed), "refused": F("refused") + refused}
    if error and job.refused < ERRORS_MAX:
        changes["errors"] = Func(F("errors"), Value(error[:ERROR_MAX]), function="array_append")
    if own.update(**changes) != 1:
        return False
    _record(job, changed)
    return True


def is_changing_all_posts(account_id: UUID) -> bool:
    """Whether a job on all posts of an account runs; one that was stopped continues after this transaction only."""
    jobs = BulkJob.objects.select_for_update(no_key=True).filter(about=account_id, ids=[])
    return JobState.RUNNING in jobs.values_list("state", flat=True)


def hand_over_jobs(*, of: UUID, to: UUID) -> None:
    """Jobs on the posts of an account, which are those of another one now, are about that one.

    A job on all posts that was stopped is finished: it would go on with the other posts of that account.
    """
    jobs = BulkJob.objects.filter(about=of)
    jobs.filter(ids=[], state=JobState.STOPPED).update(state=JobState.FINISHED, finished_at=Now())
    jobs.update(about=to)


def finish_job(job: BulkJob) -> None:
    own = BulkJob.objects.filter(pk=job.pk, lease_id=job.lease_id, state=JobState.RUNNING)
    own.update(state=JobState.FINISHED, finished_at=Now())


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """Delete or count the jobs that were started STORED_DAYS ago and do not run, for the command `prune`."""
    old = BulkJob.objects.exclude(state=JobState.RUNNING).filter(created_at__lt=now - timedelta(days=STORED_DAYS))
    return {"jobs of the admin": old.count() if dry_run else delete_in_batches(old)}


def _record(job: BulkJob, changed: Mapping[UUID, datetime | None]) -> None:
    ChangedRow.objects.bulk_create(ChangedRow(job=job, row_id=pk, decided_at=at) for pk, at in changed.items())


def _log_undo(job: BulkJob, changed: QuerySet[ChangedRow], *, by: Account) -> None:
    if job.about is None:
        log_decision(by=by, about=job, verb="Started", reason=job.reason)
        return
    posts = Message.objects.filter(pk__in=changed.values("row_id"))
    undone = "Restoring" if job.kind == BulkJob.HIDE_POSTS else "Hiding"
    log_decision(by=by, about=job.about, verb=f"{undone} of posts undone ({job.total})", reason=job.reason)
    note_for_communities(posts, ACTS[job.kind], by=by, account=job.about, reason=job.reason)


def _stop_opposite(account_id: UUID, kind: str, *, by: Account) -> None:
    """Jobs that hide and restore all posts of a (locked) account would undo each other without end."""
    running = BulkJob.objects.filter(about=account_id, ids=[], state=JobState.RUNNING).exclude(kind=kind)
    for job_id in list(running.select_for_update().values_list("pk", flat=True)):
        _move(job_id, JobState.STOPPED, by=by, reason="The opposite was decided.")


def _move(job_id: UUID, state: JobState, *, by: Account, reason: str) -> BulkJob:
    job = BulkJob.objects.select_for_update().get(pk=job_id)
    if job.state == JobState.FINISHED:
        raise JobFinished
    if job.state != state:
        verb = transition("Stopped" if state == JobState.STOPPED else "Continued", job.state, state)
        job.state = state
        if state == JobState.RUNNING:
            job.by_id = by.pk
        job.save(update_fields=["state", "by"])
        log_decision(by=by, about=job, verb=verb, reason=reason)
    return job
