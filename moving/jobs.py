"""The steps of imports that people have begun in the account area, which the worker runs."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory

from django.conf import settings
from django.db.models import F
from django.db.models.functions import Now

from kernel.jobs.leases import require_lease
from kernel.jobs.queue import RowJob
from moving import services
from moving.exceptions import FileRefused, OtherHosts
from moving.imports.progress import Report, Step
from moving.imports.running import Result, run
from moving.imports.undoing import undo
from moving.models import DUE, Move, MovePart, MoveStatus
from moving.pruning import OVER, delete_file
from moving.uploads import NAME, content_of, pairs_of, pieces_of, store

ATTEMPTS_MAX = 5
EVERY_SECONDS = 2.0
# The content of an upload, decompressed, in files of the largest size. Exports are texts, which gzip makes about five
# times smaller.
CONTENT_FILES = 5


def run_step(move: Move) -> None:
    Move.objects.filter(pk=move.pk).update(attempts=F("attempts") + 1)
    if move.attempts >= ATTEMPTS_MAX:
        return _give_up(move)
    if move.status == MoveStatus.UNDOING:
        undo(move, tell=Progress(move))
    elif move.status == MoveStatus.UPLOADED:
        result = _import(move, is_dry_run=True)
        _end(move, MoveStatus.CHECKED, result, was=MoveStatus.UPLOADED)
    else:
        services.begin(move, map=move.map)
        _end(move, MoveStatus.DONE, _import(move, is_dry_run=False), was=MoveStatus.RUNNING)
    return None


def _give_up(move: Move) -> None:
    """Unless another step has begun meanwhile."""
    Move.objects.filter(pk=move.pk, status=move.status, lease_id=move.lease_id).update(
        status=MoveStatus.FAILED, error="The process that ran it has ended too often.", finished_at=Now()
    )
    delete_file(move.pk, Move.objects.filter(OVER))


def _import(move: Move, *, is_dry_run: bool) -> Result:
    with TemporaryDirectory(prefix="cm-upload-") as folder:
        # The name decides nothing: readers look at the content.
        file, report = Path(folder) / "upload", Path(folder) / "report.csv"
        with file.open("wb") as out:
            for piece in content_of(move, MovePart.Kind.UPLOAD):
                out.write(piece)
        if file.stat().st_size != move.size:
            raise FileRefused("The upload has ended too early. Upload the file again.")
        try:
            with report.open("w", encoding="utf-8", newline="") as rows:
                result = run(
                    move,
                    file,
                    report=Report(rows),
                    tell=Progress(move),
                    is_dry_run=is_dry_run,
                    pairs=pairs_of(move),
                    content_max=CONTENT_FILES * max(move.size, settings.IMPORT_UPLOAD_MAX),
                )
        except OtherHosts:
            _store_report(move, report)
            raise
        _store_report(move, report)
    return result


def _store_report(move: Move, report: Path) -> None:
    require_lease(move)
    store(move, MovePart.Kind.REPORT, pieces_of(report))


def _end(move: Move, status: MoveStatus, result: Result, *, was: MoveStatus) -> None:
    Move.objects.filter(pk=move.pk, status=was).update(
        status=status, counts=result.counts(), preview=result.preview, attempts=0, finished_at=Now()
    )
    delete_file(move.pk, Move.objects.filter(OVER))


class Progress:
    """Stores how far a step is and renews the lease, every two seconds. Raises LeaseLost."""

    def __init__(self, move: Move) -> None:
        self._move, self._told = move, 0.0

    def __call__(self, step: Step) -> None:
        now = time.monotonic()
        if now < self._told + EVERY_SECONDS:
            return
        self._told = now
        require_lease(self._move)
        services.set_progress(self._move, done=step.done, total=step.total, step=step.name)


IMPORTS = RowJob(
    NAME, lambda: Move.objects.filter(DUE).order_by("created_at"), run_step, refused=services.fail, is_long=True
)
