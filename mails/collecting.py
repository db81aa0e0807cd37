"""Reads the change log and makes notices of it, each event once: the cursor moves in the transaction that adds them.

Who gets a mail about a row of the change log, and of which kind.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, NamedTuple
from uuid import UUID

from django.db import transaction

from kernel.changes import reading
from kernel.changes.reading import CursorExpired
from kernel.changes.rows import ChangeRow, Cursor
from kernel.database.sql import database_now
from mails.addresses import verified_addresses
from mails.kinds import Frequency, Kind, next_mail_at
from mails.models import Collector, Mailing, Notice
from messaging.changes.types import InboxType
from messaging.inbox.events import SERVICE, ServiceEvent
from messaging.models import Account, Moderator
from messaging.models.account import CAN_ACT

OF_INBOX = {
    InboxType.REQUEST_DECIDED: Kind.DECISION,
    InboxType.TOKEN_EXPIRING: Kind.TOKEN,
    InboxType.APPROVAL_NEEDED: Kind.APPROVAL,
    InboxType.REPLY: Kind.ANSWER,
    InboxType.QUOTE: Kind.ANSWER,
    InboxType.MENTION: Kind.MENTION,
}
OF_SUPER_ADMINS = {
    ServiceEvent.AGENT_REQUESTED: Kind.REQUEST,
    ServiceEvent.POST_REPORTED: Kind.REPORT,
    ServiceEvent.TROUBLE_BEGAN: Kind.HEALTH,
    ServiceEvent.TROUBLE_ENDED: Kind.HEALTH,
}
OF_MODERATORS = frozenset({ServiceEvent.POST_PENDING, ServiceEvent.POST_REPORTED})
TYPES = sorted({*map(str, OF_INBOX), *map(str, ServiceEvent)})


class Recipient(NamedTuple):
    account_id: UUID
    kind: Kind


def recipients_of(rows: Sequence[ChangeRow]) -> Iterator[tuple[ChangeRow, Recipient]]:
    """Each row with each account that is to know of it."""
    moderators = _moderators_of({row.community_id for row in rows if row.type in OF_MODERATORS})
    admins = _super_admins() if any(row.account_id == SERVICE for row in rows) else frozenset()
    for row in rows:
        # Super admins decide where no moderator can.
        for account_id, kind in _of(row, moderators.get(row.community_id) or admins, admins):
            yield row, Recipient(account_id, kind)


def _moderators_of(communities: Collection[UUID | None]) -> dict[UUID | None, set[UUID]]:
    """Who can act, by community. One query; None, which is no community, is not searched for."""
    found: dict[UUID | None, set[UUID]] = defaultdict(set)
    people = Account.objects.filter(CAN_ACT)
    rows = Moderator.objects.filter(community__in=communities, account__in=people)
    for community_id, account_id in rows.values_list("community_id", "account_id"):
        found[community_id].add(account_id)
    return found


def _of(row: ChangeRow, moderators: Collection[UUID], admins: Collection[UUID]) -> Iterator[tuple[UUID, Kind]]:
    if row.type in OF_MODERATORS:
        yield from ((account_id, Kind.MODERATION) for account_id in moderators)
    if row.type in OF_SUPER_ADMINS:
        yield from ((account_id, OF_SUPER_ADMINS[ServiceEvent(row.type)]) for account_id in admins)
    elif row.account_id is not None and row.type in OF_INBOX:
        yield row.account_id, OF_INBOX[InboxType(row.type)]


def _super_admins() -> frozenset[UUID]:
    return frozenset(Account.objects.filter(CAN_ACT, is_superuser=True).values_list("pk", flat=True))


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
