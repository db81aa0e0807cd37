"""Records reactions in the change log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from kernel.changes.log import NewChange, append
from kernel.writes.transaction import WriteTransaction
from messaging.changes.types import ChangeType, InboxType
from reactions.models import Action

TYPES = {
    Action.ADDED: ChangeType.REACTION_ADDED,
    Action.REPLACED: ChangeType.REACTION_REPLACED,
    Action.REMOVED: ChangeType.REACTION_REMOVED,
}


@dataclass(frozen=True, slots=True)
class Changed:
    """The row that ADD, REPLACE and REMOVE return: the counts after the change, the post, its author, the reaction."""

    count: int
    total: int
    page_id: str
    community_id: UUID | None
    author_id: UUID
    created_at: datetime


def record_reaction(transaction: WriteTransaction, action: Action, values: Mapping[str, Any], changed: Changed) -> None:
    """`values`: the parameters of the statement that changed the reaction."""
    append([_public_change(action, values, changed), *_event(action, values, changed)], transaction=transaction)


def removal(values: Mapping[str, Any], changed: Changed) -> NewChange:
    """The row of a removed reaction, where many are removed together."""
    return _public_change(Action.REMOVED, values, changed)


def _public_change(action: Action, values: Mapping[str, Any], changed: Changed) -> NewChange:
    reaction = {
        "id": values["reaction"],
        "emoji": values["current"] if action is Action.REMOVED else values["emoji"],
        "createdAt": changed.created_at,
    }
    return NewChange(
        type=TYPES[action],
        page_id=changed.page_id,
        community_id=changed.community_id,
        message_id=values["message"],
        actor_id=values["account"],
        data=reaction,
    )


def _event(action: Action, values: Mapping[str, Any], changed: Changed) -> list[NewChange]:
    """For the author of the post. A removed reaction, and one's own, make no event."""
    if action is Action.REMOVED or changed.author_id == values["account"]:
        return []
    return [
        NewChange(
            type=InboxType.REACTION,
            page_id=changed.page_id,
            message_id=values["message"],
            account_id=changed.author_id,
            actor_id=values["account"],
            data={"emoji": values["emoji"]},
        )
    ]
