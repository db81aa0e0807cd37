"""Sends the mails that are due. Each mailing has one sender at a time, which holds a lease."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from uuid import UUID

from django.db import DatabaseError, transaction
from django.db.models import Min
from django.db.models.functions import Greatest, Now

from kernel.database.sql import database_now
from mails.addresses import usable_address
from mails.collecting import OLD
from mails.composing import compose
from mails.kinds import Frequency, Kind, next_mail_at
from mails.models import Collector, Mailing, Notice, RefusedAddress
from mails.outcomes import Outcome, Result, failed
from mails.smtp import deliver

DUE_MAX = 100
# Of one mail. Those that do not fit into it follow in the next one.
NOTICES_MAX = 500
logger = logging.getLogger(__name__)


def due_mailings() -> list[int]:
    return list(Mailing.objects.due().order_by("next_at").values_list("pk", flat=True)[:DUE_MAX])


def seconds_to_next() -> float | None:
    """The time until a mailing is due; None: no notice waits."""
    waiting = Mailing.objects.known().filter(next_at__isnull=False)
    # One with a lease may be due again when that expires. PostgreSQL's GREATEST ignores nulls.
    next_at = waiting.aggregate(first=Min(Greatest("next_at", "leased_until")))["first"]
    return None if next_at is None else max(0.0, (next_at - database_now()).total_seconds())


def send(mailing_id: int) -> Outcome | None:
    """Send the mail of a mailing that is due. None: another process has it, or there was nothing to send."""
    lease_id = Mailing.objects.due().filter(pk=mailing_id).lease()
    if lease_id is None:
        return None
    mailing = Mailing.objects.select_related("account").get(pk=mailing_id)
    _drop_old(mailing)
    notices = list(mailing.notices.all()[:NOTICES_MAX])
    address = usable_address(mailing.account_id) if mailing.chosen != Frequency.OFF else None
    result = _send(mailing, notices, address=address) if notices and address else None
    _record(lease_id, notices, address=address or "", result=result)
    _note_server(result)
    return None if result is None else result.outcome


def _drop_old(mailing: Mailing) -> None:
    """Notices that the mail server did not take for days are not mailed."""
    mailing.notices.filter(at__lt=database_now() - OLD).delete()


def _send(mailing: Mailing, notices: Sequence[Notice], *, address: str) -> Result | None:
    """None: there is nothing to tell any more."""
    try:
        mail = compose(mailing, notices, address=address)
        result = None if mail is None else deliver(mail)
    except DatabaseError:
        raise
    except Exception:
        # A defect, which must not block the mails of others.
        logger.exception("A mail of the kind %s was not sent", mailing.kind)
        return Result(Outcome.DEFERRED)
    if result is not None and result.outcome is not Outcome.SENT:
        logger.warning("A mail was not sent (%s): %s", result.outcome.value, result.reason)
    return result


@transaction.atomic
def _record(lease_id: UUID, notices: Sequence[Notice], *, address: str, result: Result | None) -> None:
    """Store the outcome and give the lease back; does nothing if the lease has passed on.

    `result` None: there was nothing to send.
    """
    mailing = Mailing.objects.leased(lease_id).select_for_update(no_key=True).first()
    if mailing is None:
        return
    mailing.lease_id = mailing.leased_until = None
    now = database_now()
    match result and result.outcome:
        case Outcome.AWAY:
            # The deliverer waits for the server; nothing is wrong with this mailing.
            pass
        case Outcome.DEFERRED:
            for column, value in failed(mailing.failures, now=now).items():
                setattr(mailing, column, value)
        case outcome:
            mailing.notices.filter(pk__in=[notice.pk for notice in notices]).delete()
            if outcome is Outcome.SENT:
                mailing.sent_at = now
            if result is not None and outcome is Outcome.REFUSED:
                _switch_off(mailing, address, result.reason)
            mailing.failures, mailing.next_at = 0, None
            if mailing.notices.exists():
                kind = Kind(mailing.kind)
                mailing.next_at = next_mail_at(kind, mailing.chosen, sent_at=mailing.sent_at, now=now)
    mailing.save(update_fields=["sent_at", "next_at", "failures", "lease_id", "leased_until"])


def _note_server(result: Result | None) -> None:
    """Store what the operator has to mend.

    Not in the transaction of the mailing: those who collect lock the row of the collector before mailings.
    """
    if result is not None and result.is_of_server:
        Collector.objects.update(server_failure=result.reason or "It does not answer.")
    elif result is not None and result.outcome is Outcome.SENT:
        Collector.objects.exclude(server_failure="").update(server_failure="")


def _switch_off(mailing: Mailing, address: str, reason: str) -> None:
    refused = {"address": address, "reason": reason, "at": Now()}
    RefusedAddress.objects.update_or_create(account_id=mailing.account_id, defaults=refused)
