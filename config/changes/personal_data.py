"""The inbox of an account, for its export, and its erasure from the change log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID

from django.db.models import Q

from config.changes.models import Change, ReadPosition
from config.personal_data import Section, Subject, in_batches

BATCH = 2_000
COLUMNS = ("type", "at", "actor_id", "page_id", "message_id", "about_id", "data")


def sections(account_id: UUID) -> Iterable[Section]:
    """Rows of the log have no names and texts, only ids.
    events = Change.objects.filter(account_id=account_id)
    yield Section("inbox", "The events of your inbox, of the last 30 days.", events.count(), _records(events))


def erase(subject: Subject) -> int:
    """Delete the events of the accounts' inboxes, and remove the accounts from those of others."""
    ReadPosition.objects.filter(account_id__in=subject.account_ids).delete()
    own = Change.objects.filter(account_id__in=subject.account_ids)
    deleted = own.filter(pk__in=list(own.values_list("pk", flat=True)[:BATCH])).delete()[0]
    named = Q(actor_id__in=subject.account_ids)
    others = list(Change.objects.filter(named).values_list("pk", flat=True)[:BATCH])
    return deleted + Change.objects.filter(pk__in=others).update(actor_id=None)


def _records(events: Any) -> Iterator[dict[str, Any]]:
    return ({name: getattr(event, name) for name in COLUMNS} for event in in_batches(events))
