"""Exports of what a person has stored: asked for, downloaded, deleted. `archive` writes them.

Records of accounts for super admins: those that are too large for one request. `archive` writes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import chain
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils.module_loading import import_string

from kernel.jobs.queue import enqueue
from kernel.personal_data import Section
from kernel.writes.transaction import retried
from messaging.models import (
    Account,
    AccountRecord,
    AccountRecordPart,
    Archive,
    ExportStatus,
    PersonExport,
    PersonExportPart,
)
from messaging.models.personal_data import EXPORT_LIFETIME
from messaging.privacy import EXPORT, RECORD
from messaging.privacy.archive import sections_of, write_export
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
    enqueue(EXPORT, export.pk)
    return export


def exports_of(*, person: Account) -> list[PersonExport]:
    """The exports of the last days, newest first."""
    return list(PersonExport.objects.filter(account=person).order_by("-requested_at", "-id")[: 2 * EXPORTS_MAX])


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


# A record with more rows is made in the background: proxies end a request that takes some seconds.
AT_ONCE_MAX = 5_000
SHOWN_MAX = 20


def decisions_about(account_id: UUID) -> Iterator[Section]:
    """What is in a record beside the export of the person."""
    for path in settings.RECORD_EXPORTERS:
        yield from import_string(path)(account_id)


def is_large(account_id: UUID) -> bool:
    left = AT_ONCE_MAX
    for section in chain(sections_of(account_id), decisions_about(account_id)):
        left -= section.count_up_to(left + 1)
        if left < 0:
            return True
    return False


@retried
@transaction.atomic
def request_record(*, account: Account, by: Any) -> AccountRecord:
    """Have the record made, or return the one that is being made. The caller logs it, and checks that `by` may."""
    # Two requests at once find the same one.
    Account.objects.select_for_update(no_key=True).get(pk=by.pk)
    record = AccountRecord.objects.unfinished().filter(account=account, by=by.pk).first()
    record = record or AccountRecord.objects.create(account=account, by_id=by.pk)
    enqueue(RECORD, record.pk)
    return record


def write_record(record: AccountRecord) -> None:
    """Make a leased record. Raises LeaseLost."""
    write_export(record, more=decisions_about(record.account_id))


def records_for(by: Account) -> list[AccountRecord]:
    """Those that the super admin has asked for, newest first."""
    asked = AccountRecord.objects.filter(by=by.pk, requested_at__gt=Now() - EXPORT_LIFETIME)
    return list(asked.select_related("account").order_by("-requested_at", "-pk")[:SHOWN_MAX])


def ready_record(*, record_id: UUID, by: Account) -> AccountRecord:
    """Raises ExportNotFound (404) for that of another super admin, and for one that is not ready or too old."""
    ready = AccountRecord.objects.filter(status=ExportStatus.READY, requested_at__gt=Now() - EXPORT_LIFETIME)
    record = ready.select_related("account").filter(pk=record_id, by=by.pk).first()
    if record is None:
        raise ExportNotFound
    return record


def prune_records(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """Delete or count the records that were asked for EXPORT_LIFETIME ago, for the command `prune_records`."""
    old = AccountRecord.objects.filter(requested_at__lt=now - EXPORT_LIFETIME)
    count = old.count()
    while not dry_run and delete_records(old):
        pass
    return {"records of accounts": count}


@retried
@transaction.atomic
def delete_records(records: QuerySet[AccountRecord]) -> int:
    """Delete one of them with its parts, since an archive may be large; returns how many."""
    ids = list(records.values_list("pk", flat=True)[:1])
    AccountRecordPart.objects.filter(record__in=ids).delete()
    return AccountRecord.objects.filter(pk__in=ids).delete()[0]
