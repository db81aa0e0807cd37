"""Work that is done later: which jobs there are, and how one is put into the queue of PostgreSQL.

A job is a command of the housekeeping, which runs by the clock, or work on the rows of JOBS, one job for each row. The
row says what has to be done, and its lease is the fence: a job takes the lease, and a process that was frozen, or that
runs an earlier release, writes nothing after it has lost it. The engine, procrastinate, decides when a job runs and
where, and that no two jobs of one row run at the same time. A worker gets only the jobs whose names it knows, because
the name is also the queue: so one of an earlier release leaves those of a later one alone.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.db import transaction
from django.utils.module_loading import import_string
from procrastinate.contrib.django import app
from procrastinate.contrib.django.models import ProcrastinateJob
from procrastinate.exceptions import AlreadyEnqueued

from kernel.api.exceptions import ApiError
from kernel.database.sql import execute
from kernel.jobs.leases import Leased, LeasedQuerySet, LeaseLost, release, take

# So many rows of a kind that have no job are found at once.
FOUND_MAX = 100
SUCCEEDED = "succeeded"
ROLL_UP = "roll_up_desk"
DIVISORS = (1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60)
RUN_AT_ONCE = "UPDATE procrastinate_jobs SET scheduled_at = NULL WHERE id = %s AND status = 'todo'"
logger = logging.getLogger(__name__)


class JobEnded(ApiError):
    status_code = 409
    default_code = "job_ended"
    message = "Look at the list of jobs: this one has ended, or runs already."
    cause = "A super admin has asked to run or end a job of the queue that has ended meanwhile."
    remedy = "Load the page of the job again."


@dataclass(frozen=True, slots=True)
class RowJob:
    """Work on each of `rows`, the next one first. `work` gets a row whose lease is held.

    `refused` stores an ApiError that `work` has raised; without it, the job is tried again. A job that `is_long` may
    take hours, and has places of its own in the worker.
    """

    name: str
    rows: Callable[[], LeasedQuerySet[Any]]
    work: Callable[[Any], None]
    refused: Callable[[Any, ApiError], None] | None = None
    is_long: bool = False


@cache
def row_jobs() -> dict[str, RowJob]:
    jobs: list[RowJob] = [import_string(path) for path in settings.JOBS]
    return {job.name: job for job in jobs}


def names() -> list[str]:
    return [*settings.HOUSEKEEPING, *row_jobs()]


def lock_of(name: str, key: object = None) -> str:
    """No two jobs with the same lock run or wait at the same time."""
    return name if key is None else f"{name} {key}"


def cron_of(minutes: int) -> str:
    """The schedule for an interval, which becomes the next shorter one that divides an hour, or a day."""
    if minutes < 60:
        return f"*/{max(divisor for divisor in DIVISORS if divisor <= minutes)} * * * *"
    hours = max(hours for hours in (1, 2, 3, 4, 6, 8, 12, 24) if hours * 60 <= minutes)
    return f"0 */{hours} * * *" if hours < 24 else "0 0 * * *"


def enqueue(name: str, key: object = None) -> None:
    """Have a command of the housekeeping run, or the work on the row `key`, after the current transaction.

    Does nothing if it waits already. One that is running does not prevent another, which follows it.
    """
    lock = lock_of(name, key)
    deferrer = app.configure_task(name, queue=name, lock=lock, queueing_lock=lock)
    with suppress(AlreadyEnqueued), transaction.atomic():
        deferrer.defer(**({} if key is None else {"key": str(key)}))


def retry(job: ProcrastinateJob) -> None:
    """Run a job that has failed, or that waits for its next attempt, at once. Raises JobEnded (409)."""
    if job.status == "failed":
        execute("SELECT procrastinate_retry_job_v2(%s, now(), NULL, NULL, NULL)", [job.pk])
    elif not execute(RUN_AT_ONCE, [job.pk]):
        raise JobEnded


def give_up(job: ProcrastinateJob) -> None:
    """End a job that waits, or stop one that runs. Its row is left to people. Raises JobEnded (409)."""
    if not app.job_manager.cancel_job_by_id(job.pk, abort=True):
        raise JobEnded


def enqueue_found() -> None:
    """Enqueue the work on rows that have no job, such as those that an earlier release has added, or whose hour came.

    A row whose job has failed for good, or was given up, is left to people.
    """
    for job in row_jobs().values():
        keys = job.rows().unleased().values_list("pk", flat=True)[:FOUND_MAX]
        locks = {lock_of(job.name, key): key for key in keys}
        jobs = ProcrastinateJob.objects.filter(lock__in=locks).exclude(status=SUCCEEDED)
        for lock in locks.keys() - set(jobs.values_list("lock", flat=True)):
            enqueue(job.name, locks[lock])


def percent_of(job: ProcrastinateJob) -> int | None:
    """How far the work on a row is; None for a command."""
    found = row_jobs().get(job.task_name)
    row = found and found.rows().filter(pk=job.args.get("key")).first()
    return getattr(row, "percent", None)


def run(name: str, key: object) -> None:
    """Run a job that the engine has given to this process. Raises what prevents it.

    The lease of the row is taken even if it has not expired: its process has ended, or must not write any more.
    """
    if name in settings.HOUSEKEEPING:
        run_command(name)
        return
    job = row_jobs()[name]
    row = take(job.rows().filter(pk=key))
    if row is not None:
        _work(job, row)


def run_due(name: str) -> int:
    """Do the work on all rows that no process works on, without the engine; returns on how many it was done.

    It tries each once and logs what prevents it.
    """
    job, done = row_jobs()[name], 0
    tried: list[Any] = []
    while (row := take(job.rows().unleased().exclude(pk__in=tried))) is not None:
        tried.append(row.pk)
        try:
            done += _work(job, row)
        except ApiError as refusal:
            logger.error("%s: %s", row, refusal.default_code)  # noqa: TRY400  the refusal says it all
        except Exception:
            logger.exception("%s has failed", row)
    return done


def run_command(name: str) -> None:
    # The interval is stored, so that it is known when a run is late.
    options = {"interval": settings.HOUSEKEEPING_MINUTES or None} if name == ROLL_UP else {}
    call_command(name, **options)


def _work(job: RowJob, row: Leased) -> bool:
    try:
        job.work(row)
    except LeaseLost:
        logger.warning("%s: another process has it, or it was cancelled", row)
        return False
    except ApiError as refusal:
        if job.refused is None:
            release(row)
            raise
        job.refused(row, refusal)
    except Exception:
        release(row)
        raise
    release(row)
    return True
