"""Exports of what a person has stored: asked for, downloaded, deleted. `archive` writes them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from kernel.jobs.spawning import spawn_after_commit
from kernel.writes.retries import retried
from messaging.models import Account, Archive, ExportStatus, PersonExport, PersonExportPart
from messaging.models.personal_data import EXPORT_LIFETIME
from messaging.privacy import COMMAND
from messaging.privacy.exceptions import ExportNotFound, TooManyExports

# Of a person in 24 hours; failed ones do not count.
EXPORTS_MAX = 3
DAY = timedelta(hours=24)


@retried
@transaction.atomic
def request_export(*, person: Account) -> PersonExport:
    """Ask for an export, or return the one that is being made. Raises TooManyExports (429)."""
    # Lock, then look in a second statement, which sees what was committed during the wait.
    Account.objects.select_for_update(no_key=True).get(pk=person.pk)
    exports = PersonExport.objects.filter(account=person)
    export = exports.unfinished().first()
    if export is None:
        of_a_day = exports.filter(requested_at__gt=Now() - DAY).exclude(status=ExportStatus.FAILED)
        if of_a_day.count() >= EXPORTS_MAX:
            raise TooManyExports(max=EXPORTS_MAX)
        export = PersonExport.objects.create(account=person)
    spawn_after_commit(COMMAND)
    return export


def exports_of(*, person: Account) -> list[PersonExport]:
    """The exports of the last days, newest first. Starts a process for one that none makes any more."""
    exports = list(PersonExport.objects.filter(account=person).order_by("-requested_at", "-id")[: 2 * EXPORTS_MAX])
    if any(export.is_due for export in exports):
        spawn_after_commit(COMMAND)
    return exports


def ready_export(*, export_id: UUID, person: Account) -> PersonExport:
    """Raises ExportNotFound (404) for another person's, and for one that is not ready or too old."""
    ready = PersonExport.objects.filter(
        account=person, status=ExportStatus.READY, requested_at__gt=Now() - EXPORT_LIFETIME
    )
    export = ready.filter(pk=export_id).first()
    if export is None:
        raise ExportNotFound
    return export


def content_of(export: Archive) -> Iterator[bytes]:
    """The bytes of an archive, of which one part is in memory."""
    number = 0
    while part := export.parts.filter(number=number).first():
        yield bytes(part.data)
        number += 1


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """Delete or count the exports that were asked for EXPORT_LIFETIME ago, for the command `prune`."""
    old = PersonExport.objects.filter(requested_at__lt=now - EXPORT_LIFETIME)
    count = old.count()
    if not dry_run:
        delete_exports(list(old.values_list("pk", flat=True)))
    return {"exports of people": count}


def delete_exports(ids: list[UUID]) -> int:
    """Delete exports with their parts. Returns the number of exports."""
    PersonExportPart.objects.filter(export__in=ids).delete()
    return PersonExport.objects.filter(pk__in=ids).delete()[0]
