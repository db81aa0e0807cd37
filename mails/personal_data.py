"""The choices of mails of an account, for its export, and their removal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID

from kernel.changes.personal_data import erase_reasons
from kernel.personal_data import Section, Subject
from mails.models import Mailing, Notice, RefusedAddress
from messaging.privacy.moderation import with_reasons_of

BATCH = 1_000


def sections(account_id: UUID) -> Iterable[Section]:
    mailings = Mailing.objects.filter(account=account_id)
    yield Section("mails", "Which mails you get, and when the last one was sent.", mailings, _rows(account_id))
    refused = RefusedAddress.objects.filter(account=account_id)
    about = "An address of yours that a mail server has refused."
    yield Section("refused_addresses", about, refused, refused.values("address", "reason", "at"))


def _rows(account_id: UUID) -> Iterator[dict[str, Any]]:
    for mailing in Mailing.objects.filter(account=account_id).order_by("kind"):
        yield {"kind": mailing.kind, "frequency": mailing.chosen, "sentAt": mailing.sent_at}


def erase_mentions(subject: Subject) -> int:
    """The reasons, in notices for others, that mention the person or that the person wrote as a moderator."""
    mentioning = Notice.objects.filter(data__reason__regex=subject.mentions)
    written = with_reasons_of(subject, Notice.objects.all(), account="mailing__account_id")
    return erase_reasons(mentioning) + erase_reasons(written)


def erase(subject: Subject) -> int:
    """Delete the choices with what waits for a mail, and the notices for others that name an account."""
    ids = subject.account_ids
    named = Notice.objects.filter(actor_id__in=ids).order_by("pk").values("pk")[:BATCH]
    return sum(
        rows.delete()[0]
        for rows in (
            Notice.objects.filter(pk__in=named),
            RefusedAddress.objects.filter(account__in=ids),
            Mailing.objects.filter(account__in=ids),
        )
    )
