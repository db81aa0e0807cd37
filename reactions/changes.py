"""Records reactions in the change log."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from config.changes.log import NewChange, append
from config.writes.transaction import WriteTransaction
from messaging.changes.types import ChangeType
from reactions.models import Action

TYPES = {
    Action.ADDED: ChangeType.REACTION_ADDED,
    Action.REPLACED: ChangeType.REACTION_REPLACED,
    Action.REMOVED: ChangeType.REACTION_REMOVED,
}


class Changed(NamedTuple):
    """The row that ADD, REPLACE and REMOVE return: the counts after the change, the post, the reaction."""

    count: int
    total: int
    page_id: str
    community_id: UUID | None
    created_at: datetime


def record_reaction(transaction: WriteTransaction, action: Action, values: Mapping[str, Any], changed: Changed) -> None:
    """`values`: the parameters of the statement that changed the reaction."""
    reaction = {
        "id": values["reaction"],
        "emoji": values["current"] if action is Action.REMOVED else values["emoji"],
        "createdAt": changed.created_at,
    }
    append(
        [
            NewChange(
                type=TYPES[action],
                page_id=changed.page_id,
                community_id=changed.community_id,
                message_id=values["message"],
                actor_id=values["account"],
                data=reaction,
            )
        ],
        transaction=transaction,
    )
