"""Who gets a mail about a row of the change log, and of which kind."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple
from uuid import UUID

from kernel.changes.rows import ChangeRow
from mails.kinds import Kind
from messaging.changes.types import InboxType
from messaging.inbox.events import SERVICE, ServiceEvent
from messaging.models import Account, Moderator
from messaging.models.account import CAN_ACT

OF_INBOX = {
    InboxType.REQUEST_DECIDED: Kind.DECISION,
    InboxType.TOKEN_EXPIRING: Kind.TOKEN,
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
