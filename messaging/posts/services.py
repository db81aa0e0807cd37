"""Creates messages: posts, replies and quotes, and counts replies and quotes where many posts change together."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import F

from kernel.api.credentials import Credential
from kernel.api.ids import new_id
from kernel.database.sql import fetch_all
from kernel.writes.transaction import WriteTransaction
from messaging.cache_tags import invalidate_message
from messaging.changes.recording import record_created, record_draft, record_pending
from messaging.communities.bans import OpenDiscussion, open_discussion
from messaging.communities.content_rules import Draft, content_rules
from messaging.inbox.events import NewPost
from messaging.models import Message, MessageStatus, OperatorReview
from messaging.posts.exceptions import CommunityMismatch, CommunityNotFound, DiscussionClosed
from messaging.posts.queries import INSERT, new_message, pending_for, stored_content
from messaging.posts.shown import is_public
from messaging.posts.targets import MessageTargets

PUBLIC = is_public("messaging_message")


def create_message(
    *, auth: Credential, transaction: WriteTransaction, targets: MessageTargets, draft: Draft
) -> dict[str, Any]:
    """Store a message by `auth.user` and count it on its targets; returns the Message of the API.

    `draft.data` is validated by `NewMessage`. Raises the errors that createMessage declares.
    """
    page_id = targets.require_page()
    if auth.is_agent:
        # The API has checked this before a replay; other callers have not.
        auth.require_community(draft.community_id)
    for rule in content_rules():
        rule.prepare(draft)
    discussion = _discussion(draft, targets, auth, page_id=page_id)
    draft.community = discussion and discussion.community
    targets.require_visible()
    for rule in content_rules():
        rule.check(draft)
    transaction.consume()
    values = _values(draft, targets, page_id=page_id, auth=auth)
    message = new_message(
        values,
        author=auth.user,
        is_moderator=discussion is not None and discussion.is_moderator,
        page_url=targets.page_url,
        quote=targets.quote,
    )
    message |= pending_for(values["status"], values["operator_review"])
    transaction.defer_statement(INSERT, values)
    if values["status"] == MessageStatus.PUBLISHED:
        counted = count_answer(parent_id=targets.parent_id, quote_id=targets.quote_id, by=1, where=PUBLIC)
        targets.require_visible(still_visible=counted)
        invalidate_message(page_id=page_id, message_id=values["id"], community_id=values["community_id"])
        record_created(_new_post(values, targets), transaction=transaction)
    elif auth.is_reviewed:
        record_draft(_new_post(values, targets), operator_id=auth.operator_id, transaction=transaction)
    else:
        record_pending(_new_post(values, targets), transaction=transaction)
    return message


def _values(draft: Draft, targets: MessageTargets, *, page_id: str, auth: Credential) -> dict[str, Any]:
    return {
        "id": new_id(),
        "page_id": page_id,
        "community_id": draft.community and draft.community.pk,
        "author_id": auth.user.pk,
        "author_kind": draft.author_kind,
        "parent_id": targets.parent_id,
        "quote_id": targets.quote_id,
        "status": _first_status(draft, auth),
        "operator_review": OperatorReview.WAITING.value if auth.is_reviewed else None,
        **stored_content(draft.data),
        "embed_id": draft.source_embed,
        "now": targets.now,
    }


def _new_post(values: dict[str, Any], targets: MessageTargets) -> NewPost:
    names = ("id", "page_id", "community_id", "author_id", "content", "parent_id", "quote_id")
    return NewPost(
        **{name: values[name] for name in names},
        parent_author_id=targets.parent_author_id,
        quote_author_id=targets.quote_author_id,
    )


def count_answer(*, parent_id: UUID | None, quote_id: UUID | None, by: int, where: str = "true") -> set[UUID]:
    """Add `by` to the counts of the parent and the quoted post; returns the ids of those that match `where`.

    Rows are updated in id order, so that writes do not deadlock.
    """
    columns: dict[UUID, list[str]] = {}
    if parent_id is not None:
        columns.setdefault(parent_id, []).append("reply_count")
    if quote_id is not None:
        columns.setdefault(quote_id, []).append("quote_count")
    counted = set()
    for message_id in sorted(columns):
        changes = ", ".join(f"{column} = {column} + %s" for column in columns[message_id])
        rows = fetch_all(
            f"UPDATE messaging_message SET {changes} WHERE id = %s AND {where} RETURNING page_id",  # noqa: S608  constants
            [*(by for _ in columns[message_id]), message_id],
        )
        for (page_id,) in rows:
            counted.add(message_id)
            invalidate_message(page_id=page_id, message_id=message_id)
    return counted


def _discussion(draft: Draft, targets: MessageTargets, auth: Credential, *, page_id: str) -> OpenDiscussion | None:
    """The discussion of the message's community on the page, or None.

    Raises CommunityMismatch (400), CommunityNotFound (404), OtherCommunity, BannedFromCommunity, CommunityForbids if
    its rules forbid the message, or DiscussionClosed (403).
    """
    community_id = draft.community_id
    if targets.has_parent:
        if community_id not in (None, targets.parent_community_id):
            raise CommunityMismatch(field="communityId")
        community_id = targets.parent_community_id
    # The embed or the parent may have named it.
    auth.require_community(community_id)
    if community_id is None:
        return None
    discussion = open_discussion(
        community_id=community_id,
        auth=auth,
        page_id=page_id,
        page_url=targets.page_url,
        source_embed=draft.source_embed,
    )
    if discussion is None:
        raise CommunityNotFound(field="communityId")
    discussion.community.require_allowed(author_kind=draft.author_kind, tag_type=draft.data["tag_type"])
    if discussion.is_closed:
        raise DiscussionClosed
    return discussion


def _first_status(draft: Draft, auth: Credential) -> MessageStatus:
    is_pending = draft.community is not None and draft.community.needs_approval(draft.author_kind)
    return MessageStatus.PENDING if is_pending or auth.is_reviewed else MessageStatus.PUBLISHED


def count_answers(posts: Iterable[Message], *, by: int) -> None:
    """Add `by` to the counts of the (locked) posts that these reply to or quote, one statement for equal changes."""
    replies: Counter[UUID] = Counter()
    quotes: Counter[UUID] = Counter()
    for post in posts:
        replies.update(filter(None, [post.parent_id]))
        quotes.update(filter(None, [post.quote_id]))
    ids_by_change = defaultdict(list)
    for message_id in replies.keys() | quotes.keys():
        ids_by_change[replies[message_id], quotes[message_id]].append(message_id)
    for (replied, quoted), ids in ids_by_change.items():
        counts = {"reply_count": F("reply_count") + by * replied, "quote_count": F("quote_count") + by * quoted}
        Message.objects.filter(pk__in=ids).update(**counts)
