"""Files of imports and reports in the database, in parts: several hosts share them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta
from itertools import chain
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet, Sum
from django.db.models.functions import Now

from kernel.database.sql import execute
from kernel.jobs.leases import release, renew
from kernel.jobs.queue import enqueue
from kernel.writes.transaction import retried
from messaging.models import Account, Community
from messaging.models.moderation import moderated_by
from moving.exceptions import FileTooLarge, ImportBusy, ImportStorageFull, ImportUnderWay
from moving.imports.addresses import Replacement
from moving.imports.map_files import replacements
from moving.imports.undoing import begin_undo
from moving.models import UNDO_STATES, Move, MovePart, MoveStatus
from moving.pruning import ENDED, ENDED_AT, delete_file, make_room_for_report
from moving.services import import_of_file

PART_BYTES = 1 << 20
# The number of the part, before those of the file, that has the file of replacements.
MAP_FILE = -1
# A file of this size names some 10,000 pages, which the request checks.
MAP_FILE_MAX = 1_000_000
# Into one community, and by one person. A further one takes the place of the oldest that no step needs.
FILES_MAX = 5
# The name of the job.
NAME = "imports"
# What an account has one of at a time. What is undone needs no file, and writes nothing.
UNDER_WAY = (MoveStatus.UPLOADED, MoveStatus.WAITING, MoveStatus.RUNNING)
# A file that was checked takes the place of others for so long; then one that is uploaded takes its place.
WAITS = timedelta(hours=1)
# One upload at a time counts the files of the service.
LOCK_FILES = "SELECT pg_advisory_xact_lock(hashtextextended('moving files', 0))"
LISTED = 100


def upload_max(account: Account, *, slug: str) -> int:
    """The bytes of a file that the account may send to the community: only its moderators may, others none."""
    return settings.IMPORT_UPLOAD_MAX if moderated_by(account).filter(slug=slug).exists() else 0


def upload(
    *,
    community: Community,
    format: str,
    map: Sequence[str],
    file_name: str,
    size: int,
    pieces: Callable[[], Iterable[bytes]],
    map_file: bytes = b"",
    by: Account,
) -> Move:
    """Store a file, and have it checked. The same file again is the same import, which is checked again.

    `pieces` returns the file from its beginning, twice. `map_file`: see `moving.imports.map_files`. Parts are stored
    without a transaction: a long one would delay all readers of the change log.

    Raises FileTooLarge (413), UnknownFormat, InvalidMap, InvalidMapFile, InvalidMapRow (400), ImportBusy (409) while it
    is under way, or while FILES_MAX others of the community are, ImportUnderWay (409) while another one of the account
    is, ImportStorageFull (503).
    """
    if size > settings.IMPORT_UPLOAD_MAX:
        raise FileTooLarge(field="file", max=settings.IMPORT_UPLOAD_MAX)
    if len(map_file) > MAP_FILE_MAX:
        raise FileTooLarge(field="map_file", max=MAP_FILE_MAX)
    if map_file:
        replacements(map_file)
    digest = hashlib.sha256()
    for piece in pieces():
        digest.update(piece)
    move = _begin(
        community=community,
        format=format,
        map=map,
        file_name=file_name,
        size=size,
        digest=digest.hexdigest(),
        by=by,
    )
    MovePart.objects.filter(move=move, kind=MovePart.Kind.UPLOAD, number=MAP_FILE).delete()
    for number, piece in chain([(MAP_FILE, map_file)] if map_file else [], enumerate(pieces())):
        # After a lost lease, another process may have stored parts of the same file.
        part = MovePart(move=move, kind=MovePart.Kind.UPLOAD, number=number, data=piece)
        MovePart.objects.bulk_create([part], ignore_conflicts=True)
        if not renew(move):
            # The removal of the import has deleted the parts, or a step has taken the file for incomplete.
            break
    _end(move)
    enqueue(NAME, move.pk)
    return move


@retried
@transaction.atomic
def _begin(*, community: Community, map: Sequence[str], size: int, by: Account, **file: Any) -> Move:
    """The import of the file, whose lease is held until its parts are stored. Its place is counted from here on."""
    Community.objects.select_for_update(no_key=True).get(pk=community.pk)
    Account.objects.select_for_update(no_key=True).get(pk=by.pk)
    move = import_of_file(community=community, map=map, size=size, status=MoveStatus.UPLOADED, started_by=by, **file)
    if move.status == MoveStatus.UNDOING or (move.has_upload and move.is_under_way):
        raise ImportBusy(status=move.status)
    others = Move.objects.exclude(pk=move.pk)
    _refuse_second(others, by.pk)
    if not move.has_upload:
        MovePart.objects.filter(move=move, kind=MovePart.Kind.UPLOAD).delete()
    _make_room_on_disk(others, size)
    _make_room(others.filter(Q(community=community) | Q(started_by=by), has_upload=True))
    make_room_for_report(others.filter(community=community))
    make_room_for_report(others.filter(started_by=by))
    values = {"status": MoveStatus.UPLOADED, "has_upload": True, "options": {"map": list(map)}, "total": size}
    values |= {"error": "", "attempts": 0, "done": 0, "step": "", "started_by": by}
    # A command may be writing the same file.
    free = Move.objects.unleased().filter(pk=move.pk).exclude(status__in=UNDO_STATES)
    move.lease_id = free.lease(**values)
    if move.lease_id is None:
        move.refresh_from_db()
        raise ImportBusy(status=move.status)
    return move


def _refuse_second(others: QuerySet[Move], account_id: UUID) -> None:
    """Raises ImportUnderWay (409) if one of the account is read or written, or waits for it. Its row is locked."""
    of_account = others.filter(started_by=account_id, has_upload=True, status__in=UNDER_WAY)
    if (move := of_account.select_related("community").order_by("pk").first()) is not None:
        raise ImportUnderWay(move)


def _make_room_on_disk(others: QuerySet[Move], size: int) -> None:
    """Delete the oldest files that nobody has started if those of the service take too much with one of this size.

    Raises ImportStorageFull (503).
    """
    execute(LOCK_FILES)
    stored = others.filter(has_upload=True)
    surplus = _bytes_of(stored) + size - settings.IMPORT_DISK_MAX
    if surplus <= 0:
        return
    ended = stored.alias(at=ENDED_AT).filter(ENDED, at__lt=Now() - WAITS).order_by("at", "pk")
    for move_id, freed in list(ended.values_list("pk", "size")):
        if surplus > 0:
            delete_file(move_id, ended)
            surplus -= freed
    if surplus > 0:
        raise ImportStorageFull


def _bytes_of(stored: QuerySet[Move]) -> int:
    taken: int | None = stored.aggregate(bytes=Sum("size"))["bytes"]
    return int(taken or 0)


def _make_room(stored: QuerySet[Move]) -> None:
    """Delete the oldest files that no step needs, so that one more may be stored. Raises ImportBusy (409)."""
    surplus = stored.count() - FILES_MAX + 1
    if surplus <= 0:
        return
    ended = stored.alias(at=ENDED_AT).filter(ENDED).order_by("at", "pk")
    for move_id in list(ended.values_list("pk", flat=True)[:surplus]):
        delete_file(move_id, ended)
    if stored.count() >= FILES_MAX:
        raise ImportBusy(status=stored.exclude(ENDED).order_by("pk")[0].status)


def _end(move: Move) -> None:
    """Let a background process take the import. Raises ImportBusy (409) if it has been undone meanwhile."""
    release(move)
    move.refresh_from_db()
    if not move.has_upload or move.status in UNDO_STATES:
        MovePart.objects.filter(move=move, kind=MovePart.Kind.UPLOAD).delete()
    if move.status in UNDO_STATES:
        raise ImportBusy(status=move.status)


@retried
@transaction.atomic
def start(move: Move) -> None:
    """Begin to write what was checked. Raises ImportBusy (409), ImportUnderWay (409) for another of the account."""
    if move.started_by_id is not None:
        Account.objects.select_for_update(no_key=True).get(pk=move.started_by_id)
        _refuse_second(Move.objects.exclude(pk=move.pk), move.started_by_id)
    can_start = Move.objects.filter(pk=move.pk, has_upload=True, status__in=[MoveStatus.CHECKED, MoveStatus.FAILED])
    if not can_start.update(status=MoveStatus.WAITING, error="", attempts=0, done=0, total=0, step=""):
        raise ImportBusy(status=move.status)
    enqueue(NAME, move.pk)


@retried
@transaction.atomic
def start_undo(move: Move, *, by: Account, reason: str = "") -> None:
    """Have an import undone. Raises ImportBusy (409)."""
    begin_undo(move, by=by, reason=reason)
    enqueue(NAME, move.pk)


def moves_of(community: Community) -> list[Move]:
    """The imports into a community, newest first."""
    return list(Move.objects.filter(community=community).select_related("started_by").order_by("-created_at")[:LISTED])


def store(move: Move, kind: MovePart.Kind, pieces: Iterable[bytes]) -> None:
    """Replace the file of this kind."""
    MovePart.objects.filter(move=move, kind=kind).delete()
    for number, piece in enumerate(pieces):
        MovePart.objects.create(move=move, kind=kind, number=number, data=piece)


def has_report(move: Move) -> bool:
    return MovePart.objects.filter(move=move, kind=MovePart.Kind.REPORT).exists()


def pieces_of(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(PART_BYTES):
            yield piece


def pairs_of(move: Move) -> list[Replacement]:
    """The rows of the file of replacements that came with the file."""
    part = MovePart.objects.filter(move=move, kind=MovePart.Kind.UPLOAD, number=MAP_FILE).first()
    return replacements(bytes(part.data)) if part else []


def content_of(move: Move, kind: MovePart.Kind) -> Iterator[bytes]:
    """The bytes of a file, of which one part is in memory."""
    number = 0
    while part := MovePart.objects.filter(move=move, kind=kind, number=number).first():
        yield bytes(part.data)
        number += 1
