"""Records the changes of posts in the change log."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from config.changes.log import NewChange, append
from config.writes.transaction import WriteTransaction
from messaging.changes.types import ChangeType
from messaging.models import Message, MessageStatus

PUBLISHED, PENDING = MessageStatus.PUBLISHED, MessageStatus.PENDING


def record_created(
    *, message_id: UUID, page_id: str, community_id: UUID | None, transaction: WriteTransaction | None = None
) -> None:
    """Record a post that is public from the beginning."""
    append(
        [NewChange(type=ChangeType.MESSAGE_CREATED, page_id=page_id, community_id=community_id, message_id=message_id)],
        transaction=transaction,
    )


def record_moderated(moves: Iterable[tuple[Message, str, str]]) -> None:
    """Record (post, status before, status after), for those that became public or are public no more."""
    append(
        [
            NewChange(type=change, page_id=message.page_id, community_id=message.community_id, message_id=message.pk)
            for message, before, after in moves
            if (change := _public_change(before, after)) is not None
        ]
    )


def _public_change(before: str, after: str) -> ChangeType | None:
    if (before == PUBLISHED) == (after == PUBLISHED):
        return None
    if after != PUBLISHED:
        return ChangeType.MESSAGE_HIDDEN
    return ChangeType.MESSAGE_CREATED if before == PENDING else ChangeType.MESSAGE_RESTORED
