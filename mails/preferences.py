"""Which mails a person gets, and how often."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from kernel.database.sql import database_now
from kernel.writes.transaction import retried
from mails.kinds import FOR_SUPER_ADMINS, Frequency, Kind, default_frequency, next_mail_at
from mails.models import Mailing, RefusedAddress
from messaging.models import Account


def kinds_of(account: Account) -> list[Kind]:
    """The kinds that the person may get."""
    return [kind for kind in Kind if account.is_superuser or kind not in FOR_SUPER_ADMINS]


def preferences_of(account: Account) -> dict[Kind, Frequency]:
    """The frequency of each kind. One query."""
    chosen = {row.kind: row.chosen for row in Mailing.objects.known().filter(account=account)}
    return {kind: Frequency(chosen.get(kind, default_frequency(kind))) for kind in kinds_of(account)}


@retried
@transaction.atomic
def set_preferences(*, account_id: UUID, frequencies: Mapping[Kind, Frequency]) -> None:
    """What waits for a mail of a kind that is switched off is dropped."""
    for mailing in _locked(account_id, frequencies):
        _set(mailing, frequencies[Kind(mailing.kind)])


def lock_preferences(account: Account) -> dict[Kind, Frequency]:
    """As `preferences_of`; nothing else changes them until the end of the transaction."""
    return {Kind(mailing.kind): Frequency(mailing.chosen) for mailing in _locked(account.pk, kinds_of(account))}


def unsubscribe(*, account_id: UUID, kind: Kind) -> None:
    """Switch off one kind. An account that does not exist any more is ignored."""
    if Account.objects.filter(pk=account_id).exists():
        set_preferences(account_id=account_id, frequencies={kind: Frequency.OFF})


def try_address_again(*, account: Account) -> None:
    """Send mails to an address again that the mail server has refused."""
    RefusedAddress.objects.filter(account=account).delete()


def _locked(account_id: UUID, kinds: Collection[Kind]) -> QuerySet[Mailing]:
    """The rows of these kinds, which are created if they do not exist."""
    rows = [Mailing(account_id=account_id, kind=kind) for kind in sorted(kinds)]
    Mailing.objects.bulk_create(rows, ignore_conflicts=True)
    return Mailing.objects.select_for_update(no_key=True).filter(account=account_id, kind__in=kinds).order_by("pk")


def _set(mailing: Mailing, frequency: Frequency) -> None:
    mailing.frequency = frequency
    if frequency == Frequency.OFF:
        mailing.notices.all().delete()
        mailing.next_at = None
    elif mailing.next_at is not None:
        now = database_now()
        mailing.next_at = next_mail_at(Kind(mailing.kind), frequency, sent_at=mailing.sent_at, now=now)
    mailing.save(update_fields=["frequency", "next_at"])
