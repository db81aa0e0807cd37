"""Reads the change log and makes notices of it, each event once: the cursor moves in the transaction that adds them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

from django.db import transaction

from kernel.changes import reading
from kernel.changes.exceptions import CursorExpired
from kernel.changes.rows import ChangeRow, Cursor
from kernel.database.sql import database_now
from mails.addresses import verified_addresses
from mails.kinds import Frequency, Kind, next_mail_at
from mails.models import Collector, Mailing, Notice
from mails.recipients import TYPES, Recipient, recipients_of
from messaging.inbox.events import SERVICE, ServiceEvent

BATCH = 500
# What happened longer ago is not mailed, such as while the service was stopped.
OLD = timedelta(days=3)
Event = tuple[ChangeRow, Recipient]


class Mailed:
    """Selects the rows that mails are made of. Events of the service have the names of some inbox events."""

    condition = "true"
    matches = """account_id IS NOT NULL AND type = ANY(%(types)s)
        AND (account_id = %(service)s OR type <> ALL(%(service_types)s))"""
    values: Mapping[str, Any] = MappingProxyType(
        {"types": TYPES, "service": SERVICE, "service_types": [event.value for event in ServiceEvent]}
    )


def collect() -> bool:
    """Make notices of the next rows of the log; returns whether more follow. Safe to run concurrently."""
    cursor = _collector().cursor
    try:
        batch = reading.read(Mailed(), cursor, limit=BATCH)
    except CursorExpired:
        # The log goes on in another cluster, or nothing has collected for a month.
        return _move(cursor, to=reading.now(), rows=[])
    if batch.next == cursor:
        return False
    return _move(cursor, to=batch.next, rows=batch.rows) and batch.has_more


def is_behind() -> bool:
    """Whether rows follow that cannot be read yet, because an older transaction is running."""
    return reading.is_followed(_collector().cursor.position)


def _collector() -> Collector:
    """At the first start, what happened before is not mailed."""
    collector = Collector.objects.first()
    if collector is None:
        Collector.objects.bulk_create([Collector(**reading.now().columns())], ignore_conflicts=True)
        collector = Collector.objects.get()
    return collector


@transaction.atomic
def _move(cursor: Cursor, *, to: Cursor, rows: Sequence[ChangeRow]) -> bool:
    """Move the cursor and store the notices of the rows; does nothing if another process has moved it."""
    if Collector.objects.filter(**cursor.columns()).update(**to.columns()):
        _store(rows, now=database_now())
    return True


def _store(rows: Sequence[ChangeRow], *, now: datetime) -> None:
    events = list(recipients_of([row for row in rows if now - row.at <= OLD]))
    reachable = verified_addresses({recipient.account_id for _row, recipient in events})
    events = [event for event in events if event[1].account_id in reachable]
    if not events:
        return
    mailings = _locked_mailings({recipient for _row, recipient in events})
    Notice.objects.bulk_create(
        [_notice(row, mailings[recipient]) for row, recipient in events if recipient in mailings],
        ignore_conflicts=True,
    )
    _schedule(mailings.values(), now=now)


def _locked_mailings(recipients: Collection[Recipient]) -> dict[Recipient, Mailing]:
    """Those that are not switched off; a missing one is created.

    All are locked before their notices are stored: who stores that nothing waits, or switches a kind off, has done so
    before, or sees the notices. In order, so that two processes do not deadlock.
    """
    new = [Mailing(account_id=account_id, kind=kind) for account_id, kind in sorted(recipients)]
    Mailing.objects.bulk_create(new, ignore_conflicts=True)
    rows = Mailing.objects.known().filter(account__in={recipient.account_id for recipient in recipients})
    ids = [row.pk for row in rows if Recipient(row.account_id, Kind(row.kind)) in recipients]
    locked = Mailing.objects.select_for_update(no_key=True).filter(pk__in=ids).order_by("pk")
    return {Recipient(row.account_id, Kind(row.kind)): row for row in locked if row.chosen != Frequency.OFF}


def _schedule(mailings: Collection[Mailing], *, now: datetime) -> None:
    """Set the time of the next mail of those that have none."""
    for mailing in mailings:
        if mailing.next_at is None:
            mailing.next_at = next_mail_at(Kind(mailing.kind), mailing.chosen, sent_at=mailing.sent_at, now=now)
            mailing.save(update_fields=["next_at"])


def _notice(row: ChangeRow, mailing: Mailing) -> Notice:
    return Notice(
        mailing=mailing,
        xid=row.xid,
        row_id=row.id,
        type=row.type,
        at=row.at,
        message_id=row.message_id,
        actor_id=row.actor_id,
        about_id=row.about_id,
        data=row.data,
    )
