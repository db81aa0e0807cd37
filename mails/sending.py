"""Sends the mails that are due. Each mailing has one sender at a time, which holds a lease.

Sends one mail through a connection of its own.

A mail of some notices: text and HTML from the same content, and the headers of automatic mail.
"""

from __future__ import annotations

import logging
import smtplib
from collections.abc import Sequence
from contextlib import suppress
from urllib.parse import urlsplit
from uuid import UUID, uuid5

from django.conf import settings
from django.core.mail import EmailMessage, EmailMultiAlternatives, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.core.mail.backends.smtp import EmailBackend
from django.db import DatabaseError, transaction
from django.db.models import Min
from django.db.models.functions import Greatest, Now
from django.template.loader import render_to_string
from django.utils import translation

from kernel.database.sql import database_now
from mails import places
from mails.addresses import usable_address
from mails.collecting import OLD
from mails.contents import Content, content_of
from mails.contents.parts import one_line
from mails.kinds import Frequency, Kind, next_mail_at
from mails.models import Collector, Mailing, Notice, RefusedAddress
from mails.outcomes import Outcome, Result, failed, of_connection, of_mail
from mails.views import unsubscribe_url
from messaging.models import Account

# For each answer to a mail: a server may check it before it answers, and may accept it after a time-out, so that it
# arrives twice (RFC 5321, 4.5.3.2). A connection must open faster: EMAIL_TIMEOUT.
ANSWER_SECONDS = 120


def deliver(mail: EmailMessage) -> Result:
    """Send a mail; raises what is no failure of the server or of the network."""
    connection: BaseEmailBackend = get_connection()
    is_open = False
    try:
        connection.open()
        _greet(_session(connection))
        is_open = True
        connection.send_messages([mail])
    except OSError as failure:
        return of_mail(failure) if is_open else of_connection(failure)
    finally:
        _close(connection)
    return Result(Outcome.SENT)


def _session(connection: BaseEmailBackend) -> smtplib.SMTP | None:
    """None: there is none, or the backend prints mails or stores them in files."""
    return connection.connection if isinstance(connection, EmailBackend) else None


def _greet(session: smtplib.SMTP | None) -> None:
    """Django leaves the greeting to the first mail."""
    if session is not None and session.sock:
        session.ehlo_or_helo_if_needed()
        session.sock.settimeout(ANSWER_SECONDS)


def _close(connection: BaseEmailBackend) -> None:
    """Whether the mail was accepted does not depend on the answer to QUIT."""
    session = _session(connection)
    if session is not None and session.sock:
        session.sock.settimeout(settings.EMAIL_TIMEOUT)
    with suppress(OSError):
        connection.close()


# More are counted, and shown on the page that a link leads to.
ITEMS_MAX = 20
SUBJECT_MAX = 120
PRODUCT = "Community Messaging"


def compose(mailing: Mailing, notices: Sequence[Notice], *, address: str) -> EmailMultiAlternatives | None:
    """The mail in the person's language; None: there is nothing to tell any more, as all posts are gone."""
    account, kind = mailing.account, Kind(mailing.kind)
    with translation.override(language_of(account)):
        content = content_of(kind, account, notices)
        return _mail(mailing, notices, content, address=address) if content.items else None


def language_of(account: Account) -> str:
    """The language that the person chose, else the default."""
    try:
        return translation.get_supported_language_variant(getattr(account, "language", "") or settings.LANGUAGE_CODE)
    except LookupError:
        return str(settings.LANGUAGE_CODE)


def _mail(mailing: Mailing, notices: Sequence[Notice], content: Content, *, address: str) -> EmailMultiAlternatives:
    unsubscribe = unsubscribe_url(mailing.account_id, Kind(mailing.kind))
    context = {
        "product": PRODUCT,
        "content": content,
        "items": content.items[:ITEMS_MAX],
        "more": max(len(content.items) - ITEMS_MAX, 0),
        "unsubscribe": unsubscribe,
        "preferences": places.preferences(),
    }
    mail = EmailMultiAlternatives(
        subject=one_line(content.subject, SUBJECT_MAX),
        body=render_to_string("mails/mail.txt", context),
        to=[address],
        headers=_headers(mailing, notices, unsubscribe) | _thread(content.page_id),
    )
    mail.attach_alternative(render_to_string("mails/mail.html", context), "text/html")
    return mail


def _thread(page_id: str) -> dict[str, str]:
    """Mail programs show the mails about the discussion on one page together: answers to a mail that does not exist."""
    return dict.fromkeys(("In-Reply-To", "References"), f"<{page_id}.discussion@{_host()}>") if page_id else {}


def _host() -> str:
    return urlsplit(settings.BASE_URL).hostname or "localhost"


def _headers(mailing: Mailing, notices: Sequence[Notice], unsubscribe: str) -> dict[str, str]:
    """RFC 3834 (automatic), RFC 8058 (one click), RFC 2919 (list)."""
    host = _host()
    # Of the events, so that a mail that is sent twice has the same id.
    events = " ".join(f"{notice.xid}.{notice.row_id}" for notice in notices)
    return {
        "Message-ID": f"<{uuid5(mailing.account_id, f'{mailing.kind} {events}').hex}@{host}>",
        "Auto-Submitted": "auto-generated",
        "Precedence": "bulk",
        "List-Id": f"<{mailing.kind}.{host}>",
        "List-Unsubscribe": f"<{unsubscribe}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    }


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
