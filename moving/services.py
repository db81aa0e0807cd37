"""Imports: the row of one, which all runs of the same file share, and its steps."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from kernel.api.exceptions import ApiError
from kernel.jobs.leases import renew
from messaging.models import Account, Community
from moving.exceptions import ImportBusy, ImportNotFound, OtherHosts, UnknownFormat
from moving.formats import FORMATS
from moving.imports.addresses import Pages
from moving.imports.running import Result
from moving.models import FILE_NAME_MAX, UNDO_STATES, WRITABLE, Move, MoveStatus
from moving.pruning import OVER, delete_file


def require_usable(*, format: str, map: Sequence[str]) -> None:
    """Raises UnknownFormat (400), InvalidMap (400)."""
    if format not in FORMATS:
        raise UnknownFormat(allowed=", ".join(FORMATS))
    Pages(map)


def import_of_file(
    *,
    community: Community,
    format: str,
    digest: str,
    size: int,
    file_name: str,
    map: Sequence[str],
    status: MoveStatus,
    started_by: Account | None = None,
) -> Move:
    """The import of this file into the community: that of earlier runs, or a new one with this status.

    Raises UnknownFormat (400), InvalidMap (400).
    """
    require_usable(format=format, map=map)
    of_file = Move.objects.filter(community=community, format=format, digest=digest).exclude(status=MoveStatus.UNDONE)
    values = {
        "started_by": started_by,
        "size": size,
        "file_name": file_name[:FILE_NAME_MAX],
        "options": {"map": list(map)},
        "status": status,
    }
    move = of_file.first()
    try:
        with transaction.atomic():
            return move or Move.objects.create(community=community, format=format, digest=digest, **values)
    except IntegrityError:
        # Another process has begun the same import.
        return of_file.get()


def begin(move: Move, *, map: Sequence[str]) -> None:
    """A run begins to write, and takes the lease of the import. Raises ImportBusy (409) while the import is undone.

    Also from another run of the file: both may write, since each post is written once.
    """
    free = Move.objects.filter(pk=move.pk).exclude(status__in=UNDO_STATES)
    values: dict[str, Any] = {"options": {"map": list(map)}, "preview": [], "error": "", "finished_at": None}
    lease_id = free.lease(status=MoveStatus.RUNNING, **values)
    if lease_id is None:
        raise ImportBusy(status=MoveStatus.UNDOING)
    move.refresh_from_db()
    # Another run may have taken the lease meanwhile.
    move.lease_id = lease_id


def keep_lease(move: Move) -> None:
    """Renew the lease of a run; one that lost it to another run takes it when that has ended."""
    if not renew(move):
        move.lease_id = Move.objects.unleased().filter(pk=move.pk, status__in=WRITABLE).lease()


def end(move: Move, result: Result) -> None:
    """A run has written all posts. It stays undone if that has happened meanwhile. The uploaded file goes."""
    Move.objects.filter(pk=move.pk, status__in=[MoveStatus.RUNNING, MoveStatus.DONE]).update(
        status=MoveStatus.DONE, counts=result.counts(), finished_at=Now()
    )
    delete_file(move.pk, Move.objects.filter(OVER))


def fail(move: Move, refusal: ApiError) -> None:
    """The run that has the lease has failed. What it has written stays; the same file goes on with the rest.

    The uploaded file goes: it is sent again.
    """
    unfinished = [MoveStatus.UPLOADED, MoveStatus.WAITING, MoveStatus.RUNNING]
    held = Move.objects.filter(pk=move.pk, lease_id=move.lease_id, lease_id__isnull=False)
    values: dict[str, Any] = {"error": refusal.message}
    if isinstance(refusal, OtherHosts):
        values["counts"] = {"elsewhere": refusal.hosts}
    held.filter(status__in=unfinished).update(status=MoveStatus.FAILED, finished_at=Now(), **values)
    delete_file(move.pk, Move.objects.filter(OVER))


def find_import(move_id: UUID | str, *, communities: Collection[UUID] | None = None) -> Move:
    """Raises ImportNotFound (404), also for one of another community than these; None: any."""
    moves = Move.objects.select_related("community", "started_by")
    if communities is not None:
        moves = moves.filter(community__in=communities)
    move = moves.filter(pk=move_id).first()
    if move is None:
        raise ImportNotFound
    return move


def set_progress(move: Move, *, done: int, total: int, **values: Any) -> None:
    Move.objects.filter(pk=move.pk).update(done=done, total=total, **values)
