"""Deletes files of imports and their reports: the old ones, and the oldest where many are stored."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce

from kernel.writes.transaction import retried
from moving.models import Move, MovePart, MoveStatus

# Files of imports that were checked and that nobody has started.
FILES_STORED = timedelta(days=7)
# No step needs their files any more. They are deleted at once; the process that does so may end before.
OVER = Q(status__in=[MoveStatus.DONE, MoveStatus.UNDONE, MoveStatus.FAILED])
REPORTS_STORED = timedelta(days=180)
# Of one community, and of one person: a report may have 64 MiB, and anybody may have imports checked in a community of
# their own. Those of the few imports under way are not counted.
REPORTS_MAX = 10
ENDED = Q(status__in=[MoveStatus.DONE, MoveStatus.UNDONE, MoveStatus.CHECKED, MoveStatus.FAILED])
# The same file may be uploaded again long after its import was created: the time of its last check or run counts.
ENDED_AT = Coalesce("finished_at", "created_at")
REPORTS = MovePart.objects.filter(move=OuterRef("pk"), kind=MovePart.Kind.REPORT)


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """Delete or count old files and reports of imports that have ended or wait for a decision, for `prune`."""
    ended = Move.objects.alias(at=ENDED_AT).filter(ENDED)
    files = ended.filter(OVER | Q(at__lt=now - FILES_STORED), has_upload=True)
    reports = ended.filter(Exists(REPORTS), at__lt=now - REPORTS_STORED)
    file_ids, report_ids = (list(old.values_list("pk", flat=True)) for old in (files, reports))
    if not dry_run:
        for move_id in file_ids:
            delete_file(move_id, files)
        for move_id in report_ids:
            _delete_report(move_id, reports)
        # An upload whose lease was lost has stored them after its import had failed.
        MovePart.objects.filter(move__has_upload=False, kind=MovePart.Kind.UPLOAD).delete()
    return {"files of imports": len(file_ids), "reports of imports": len(report_ids)}


@retried
@transaction.atomic
def delete_file(move_id: UUID, old: QuerySet[Move]) -> None:
    """Unless it has begun meanwhile."""
    if old.filter(pk=move_id).update(has_upload=False, preview=[]):
        MovePart.objects.filter(move=move_id, kind=MovePart.Kind.UPLOAD).delete()


def make_room_for_report(moves: QuerySet[Move]) -> None:
    """Delete the oldest reports of these imports, so that one more may be stored."""
    stored = moves.alias(at=ENDED_AT).filter(ENDED, Exists(REPORTS)).order_by("-at", "-pk")
    for move_id in list(stored.values_list("pk", flat=True)[REPORTS_MAX - 1 :]):
        _delete_report(move_id, stored)


@retried
@transaction.atomic
def _delete_report(move_id: UUID, old: QuerySet[Move]) -> None:
    """Unless the import has begun again meanwhile."""
    if old.select_for_update(no_key=True).filter(pk=move_id).first() is not None:
        MovePart.objects.filter(move=move_id, kind=MovePart.Kind.REPORT).delete()
