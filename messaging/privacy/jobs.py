"""Runs the jobs that are due."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar
from uuid import UUID

from kernel.api.exceptions import ApiError
from kernel.jobs.leases import Leased, LeaseLost, release, take
from messaging.models import AccountRecord, PersonErasure, PersonExport
from messaging.privacy.archive import write_export
from messaging.privacy.erasing import carry_out
from messaging.privacy.exports import write_record

Job = TypeVar("Job", bound=Leased)
logger = logging.getLogger(__name__)


def run_due_jobs() -> dict[str, int]:
    """Run jobs until none is due that no other process runs; returns how many were done, by kind."""
    return {"exports": _run_exports(), "records": _run_records(), "erasures": _run_erasures()}


def _run_exports() -> int:
    done = 0
    while (export := take(PersonExport.objects.due().order_by("requested_at"))) is not None:
        done += _run(export, write_export)
    return done


def _run_records() -> int:
    done = 0
    while (record := take(AccountRecord.objects.due().order_by("requested_at"))) is not None:
        done += _run(record, write_record)
    return done


def _run_erasures() -> int:
    """Each at most once: one that fails is tried again by the next run."""
    done = 0
    tried: list[UUID] = []
    while (erasure := take(PersonErasure.objects.due().exclude(pk__in=tried).order_by("due_at"))) is not None:
        tried.append(erasure.account_id)
        done += _run(erasure, carry_out)
    return done


def _run(job: Job, work: Callable[[Job], None]) -> bool:
    try:
        work(job)
    except LeaseLost:
        logger.warning("%s: another process has it, or it was cancelled", job)
        return False
    except ApiError as refusal:
        logger.error("%s: %s", job, refusal.default_code)  # noqa: TRY400  the refusal says it all
        release(job)
        return False
    except Exception:
        logger.exception("%s has failed", job)
        release(job)
        return False
    return True
