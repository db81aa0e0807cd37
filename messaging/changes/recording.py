"""Records the changes of posts in the change log, and the events that they are for the inboxes of accounts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from uuid import UUID

from kernel.changes.log import NewChange, append
from kernel.writes.transaction import WriteTransaction
from messaging.changes.types import ChangeType, InboxType
from messaging.inbox.events import (
    NewPost,
    ServiceEvent,
    about_post,
    about_stored_post,
    answer_events,
    approval_events,
    edit_events,
    moderated_event,
    tell_moderators,
)
from messaging.models import Account, Message, MessageStatus

PUBLISHED, PENDING = MessageStatus.PUBLISHED, MessageStatus.PENDING
# The reason that the author reads.
REPORTED = "Readers have reported it. A moderator decides on it."


def record_created(post: NewPost, *, transaction: WriteTransaction) -> None:
    """Record a post that is public from the beginning."""
    created = NewChange(
        type=ChangeType.MESSAGE_CREATED, page_id=post.page_id, community_id=post.community_id, message_id=post.id
    )
    append([created, *answer_events(post)], transaction=transaction)


def record_pending(post: NewPost, *, transaction: WriteTransaction) -> None:
    """Record, for moderators alone, a post that waits for approval from the beginning."""
    event = about_post(
        ServiceEvent.POST_PENDING, page_id=post.page_id, community_id=post.community_id, message_id=post.id
    )
    append([event], transaction=transaction)
    tell_moderators(
        InboxType.POST_PENDING,
        page_id=post.page_id,
        community_id=post.community_id,
        message_id=post.id,
        by=post.author_id,
        is_new=True,
    )


def record_draft(post: NewPost, *, operator_id: UUID | None, transaction: WriteTransaction) -> None:
    """Record a post of an agent that its operator has to release."""
    append(approval_events(post, operator_id=operator_id), transaction=transaction)


def record_edited_draft(
    post: Message, *, was_public: bool, operator_id: UUID | None, transaction: WriteTransaction
) -> None:
    """Record an edit by an agent that its operator has to release. The link to the former text has ended."""
    hidden = [_change(ChangeType.MESSAGE_HIDDEN, post)] if was_public else []
    append([*hidden, *approval_events(post, operator_id=operator_id)], transaction=transaction)


def record_released(post: Message) -> None:
    """Record for moderators that a post waits for them, which its operator has released."""
    append([about_stored_post(ServiceEvent.POST_PENDING, post)])
    _tell(InboxType.POST_PENDING, post, by=post.author_id)


def record_edited(post: Message, *, transaction: WriteTransaction) -> None:
    """Record an edit of a public post, and a `mention` for each account that only this version mentions."""
    append([_change(ChangeType.MESSAGE_EDITED, post), *_new_mentions(post)], transaction=transaction)


def record_held(post: Message, *, transaction: WriteTransaction) -> None:
    """Record that a public post waits for approval after an edit. Its approval is `message.restored`."""
    pending = about_stored_post(ServiceEvent.POST_PENDING, post)
    append([_change(ChangeType.MESSAGE_HIDDEN, post), pending], transaction=transaction)
    _tell(InboxType.POST_PENDING, post, by=post.author_id)


def record_reported(post: Message, *, by: Account, is_held: bool, transaction: WriteTransaction) -> None:
    """Record a report for moderators. `is_held`: because of it, a public post waits for a decision."""
    changes = [about_stored_post(ServiceEvent.POST_REPORTED, post)]
    if is_held:
        held = _change(ChangeType.MESSAGE_HIDDEN, post)
        changes += [held, *moderated_event(post, status=PENDING, by=by.pk, reason=REPORTED)]
    append(changes, transaction=transaction)
    _tell(InboxType.POST_REPORTED, post, by=by.pk)


def record_deleted(post: Message, *, transaction: WriteTransaction) -> None:
    append([deletion_of(post)], transaction=transaction)


def deletion_of(post: Message) -> NewChange:
    return _change(ChangeType.MESSAGE_DELETED, post)


def record_moderated(
    moves: Iterable[tuple[Message, str, str]], *, by: Account, reason: str, is_by_operator: bool = False
) -> None:
    """Record (post, status before, status after); before is PENDING for every post that was never public.

    `is_by_operator`: `by` operates the agent that has written it, which is told so.
    """
    changes = (_moderated(*move, by=by, reason=reason, is_by_operator=is_by_operator) for move in moves)
    append([change for of_post in changes for change in of_post])


def _moderated(
    message: Message, before: str, after: str, *, by: Account, reason: str, is_by_operator: bool
) -> Iterator[NewChange]:
    change = _public_change(before, after)
    if change is not None:
        yield _change(change, message)
    if change is ChangeType.MESSAGE_CREATED:
        yield from answer_events(_stored_post(message))
    if change is ChangeType.MESSAGE_RESTORED and message.held_after_edit:
        yield from _new_mentions(message)
    yield from moderated_event(message, status=after, by=by.pk, reason=reason, names_actor=is_by_operator)


def _change(change: ChangeType, message: Message) -> NewChange:
    return NewChange(type=change, page_id=message.page_id, community_id=message.community_id, message_id=message.pk)


def _tell(kind: InboxType, post: Message, *, by: UUID) -> None:
    tell_moderators(kind, page_id=post.page_id, community_id=post.community_id, message_id=post.pk, by=by)


def _new_mentions(message: Message) -> list[NewChange]:
    """`mention` for the accounts that no public version of the post has mentioned."""
    if "@" not in message.content:
        return []
    earlier = list(message.versions.filter(was_public=True).values_list("content__content", flat=True))
    # There was one, which `prune` or an erasure has deleted since: nothing tells whom it mentioned.
    return edit_events(_stored_post(message), earlier) if earlier else []


def _public_change(before: str, after: str) -> ChangeType | None:
    if MessageStatus.DELETED in (before, after):
        # The replies to a post without content are shown again, or hidden again.
        return ChangeType.MESSAGE_DELETED if after == MessageStatus.DELETED else ChangeType.MESSAGE_HIDDEN
    if (before == PUBLISHED) == (after == PUBLISHED):
        return None
    if after != PUBLISHED:
        return ChangeType.MESSAGE_HIDDEN
    return ChangeType.MESSAGE_CREATED if before == PENDING else ChangeType.MESSAGE_RESTORED


def _stored_post(message: Message) -> NewPost:
    answered = [answered_id for answered_id in (message.parent_id, message.quote_id) if answered_id is not None]
    authors: dict[UUID | None, UUID] = {}
    if answered:
        authors.update(Message.objects.filter(pk__in=answered).values_list("pk", "author_id"))
    return NewPost(
        id=message.pk,
        page_id=message.page_id,
        community_id=message.community_id,
        author_id=message.author_id,
        content=message.content,
        parent_id=message.parent_id,
        parent_author_id=authors.get(message.parent_id),
        quote_id=message.quote_id,
        quote_author_id=authors.get(message.quote_id),
    )
