"""The inbox of an account, for its export, and its erasure.

Rows have ids, and the reasons of decisions, but no names and no texts of posts. Those that name the account as the
actor are in the inboxes of others and in the public log until they are pruned; an id without an account is shown as a
deleted one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID

from django.db.models import F, Func, QuerySet

from kernel.changes.models import Change, ReadPosition
from kernel.database.sql import in_batches
from kernel.personal_data import Section, Subject

BATCH = 2_000
COLUMNS = ("type", "at", "actor_id", "page_id", "message_id", "about_id", "data")
# In an inbox without an account, as rows of no inbox are public.
EMPTY = {
    **dict.fromkeys(("page_id", "community_id", "message_id", "actor_id", "about_id", "data")),
    "type": "erased",
    "account_id": UUID(int=0),
}


def sections(account_id: UUID) -> Iterable[Section]:
    events = Change.objects.filter(account_id=account_id)
    yield Section("inbox", "The events of your inbox, of the last 30 days.", events, _records(events))


def erase(subject: Subject) -> int:
    """Empty a batch of the inbox. The rows stay until they are pruned, since readers may be at the position of one.

    Without the newest row of the log, the cursor of each reader that has got all rows would be expired.
    """
    ReadPosition.objects.filter(account_id__in=subject.account_ids).delete()
    own = Change.objects.filter(account_id__in=subject.account_ids)
    return own.filter(pk__in=list(own.values_list("pk", flat=True)[:BATCH])).update(**EMPTY)


def erase_mentions(subject: Subject) -> int:
    events = Change.objects.filter(account_id__isnull=False)
    return erase_reasons(events.filter(data__reason__regex=subject.mentions))


def erase_reasons(events: QuerySet[Any]) -> int:
    """A batch of the reasons in the `data` of events for others, which mention the person or were written by them."""
    without_reason = "%(function)s(%(expressions)s, '{reason}', 'null')"
    told = list(events.values_list("pk", flat=True)[:BATCH])
    rows: QuerySet[Any] = events.model._default_manager.filter(pk__in=told)
    return rows.update(data=Func(F("data"), function="jsonb_set", template=without_reason))


def _records(events: Any) -> Iterator[dict[str, Any]]:
    return ({name: getattr(event, name) for name in COLUMNS} for event in in_batches(events))
