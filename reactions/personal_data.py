"""The reactions of an account, for its export, and their removal."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from kernel.changes.log import NewChange, append
from kernel.database.sql import execute, fetch_one
from kernel.personal_data import Section, Subject
from messaging.cache_tags import invalidate_message
from messaging.privacy.exporters import table
from reactions import queries
from reactions.changes import Changed, removal
from reactions.models import Reaction

BATCH = 200


def sections(account_id: UUID) -> Iterable[Section]:
    reactions = Reaction.objects.filter(account=account_id)
    yield table("reactions", "Your reactions to posts.", reactions, ("id", "message_id", "emoji", "created_at"))


def erase(subject: Subject) -> int:
    """Remove a batch of reactions, as their account would. An heir cannot have them: two people may have reacted to the
    same post.
    """
    reactions = Reaction.objects.filter(account__in=subject.account_ids).order_by("message_id")[:BATCH]
    for account_id in sorted(subject.account_ids):
        execute(queries.LOCK, {"account": account_id})
    changes = [change for reaction in list(reactions) if (change := _remove(reaction))]
    append(changes)
    return len(changes)


def _remove(reaction: Reaction) -> NewChange | None:
    values = {
        "message": reaction.message_id,
        "account": reaction.account_id,
        "reaction": reaction.pk,
        "current": reaction.emoji,
    }
    row = fetch_one(queries.REMOVE, values)
    if row is None:
        return None
    changed = Changed(*row)
    invalidate_message(page_id=changed.page_id, message_id=reaction.message_id)
    return removal(values, changed)
