"""The events of inboxes about posts. The own doing of an account makes no event for it, and nobody reads an heir's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from uuid import UUID

from kernel.changes.log import NewChange
from messaging.changes.mentions import mentioned_accounts, newly_mentioned_accounts
from messaging.changes.types import InboxType
from messaging.deleted_accounts import HEIR_IDS
from messaging.models import Message

# (type, account, the post of the account that it is about)
Event = tuple[InboxType, UUID, UUID | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPost:
    """A post that becomes public or is edited, and the authors of its parent and of the post that it quotes."""

    id: UUID
    page_id: str
    community_id: UUID | None
    author_id: UUID
    content: str
    parent_id: UUID | None
    parent_author_id: UUID | None
    quote_id: UUID | None
    quote_author_id: UUID | None


def answer_events(post: NewPost) -> list[NewChange]:
    """`reply`, `quote` and `mention`: a mentioned account that is answered or quoted already gets no `mention`."""
    return _events(post, [*_answered(post), *_mentions(post, mentioned_accounts(post.content))])


def edit_events(post: NewPost, earlier: Iterable[str]) -> list[NewChange]:
    """`mention` for the accounts that the text mentions and no earlier one does."""
    return _events(post, _mentions(post, newly_mentioned_accounts(post.content, earlier)))


def _mentions(post: NewPost, accounts: Iterable[UUID]) -> list[Event]:
    answered = {account_id for _type, account_id, _about_id in _answered(post)}
    return [(InboxType.MENTION, account_id, None) for account_id in accounts if account_id not in answered]


def _events(post: NewPost, events: Iterable[Event]) -> list[NewChange]:
    return [
        NewChange(
            type=event,
            page_id=post.page_id,
            message_id=post.id,
            account_id=account_id,
            actor_id=post.author_id,
            about_id=about_id,
        )
        for event, account_id, about_id in events
        if account_id != post.author_id and account_id not in HEIR_IDS.values()
    ]


def _answered(post: NewPost) -> Iterator[Event]:
    """A reply that quotes its parent is a reply."""
    if post.parent_author_id is not None:
        yield InboxType.REPLY, post.parent_author_id, post.parent_id
    if post.quote_author_id is not None and post.quote_id != post.parent_id:
        yield InboxType.QUOTE, post.quote_author_id, post.quote_id


def moderated_event(message: Message, *, status: str, by: UUID, reason: str) -> list[NewChange]:
    """`moderated` for the author; it does not name the moderator."""
    if message.author_id == by or message.author_id in HEIR_IDS.values():
        return []
    return [
        NewChange(
            type=InboxType.MODERATED,
            page_id=message.page_id,
            message_id=message.pk,
            account_id=message.author_id,
            data={"status": status, "reason": reason or None},
        )
    ]
