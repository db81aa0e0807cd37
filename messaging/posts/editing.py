"""Edits of posts by their authors. The content before each edit or deletion is stored for moderators.

What has changed in the columns of a row is text for the history of the admin.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings

from kernel.admin.audit import forget_names_about
from kernel.api.credentials import Credential
from kernel.cache.versions import EVERYTHING, invalidate
from kernel.database.sql import allow_long_statements, database_now
from kernel.writes.deletion import delete_in_batches
from kernel.writes.transaction import WriteTransaction
from messaging.cache_tags import invalidate_message
from messaging.changes.recording import record_edited, record_edited_draft, record_held
from messaging.communities.bans import open_community
from messaging.communities.content_rules import Draft, content_rules
from messaging.models import Message, MessageStatus, MessageVersion, OperatorReview
from messaging.models.message import EDITS_MAX
from messaging.moderation.reporting import move_closing
from messaging.posts.exceptions import EditWindowClosed, TooManyEdits
from messaging.posts.message_fields import BODY_FIELDS, CONTENT_FIELDS
from messaging.posts.rights import LONG_STATEMENT_SECONDS, lock_own_post
from messaging.posts.services import count_answer
from messaging.validation import require_content, require_tag

# As long as the change log; the content of a deleted post is then gone.
VERSION_DAYS = 30


def store_version(post: Message, *, now: datetime) -> None:
    """Store the content of a (locked) post that is about to change."""
    content = {field.column: getattr(post, field.column) for field in CONTENT_FIELDS}
    # Of a post that waits because of reports, the version from before any edit was public.
    was_public = post.status == MessageStatus.PUBLISHED or (post.held_after_reports and not post.held_after_edit)
    MessageVersion.objects.create(message=post, content=content, was_public=was_public, replaced_at=now)


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """Delete or count the versions that were replaced VERSION_DAYS ago, for the command `prune`."""
    old = MessageVersion.objects.filter(replaced_at__lt=now - timedelta(days=VERSION_DAYS))
    return {"versions of posts": old.count() if dry_run else delete_in_batches(old)}


def lock_for_edit(*, auth: Credential, message_id: UUID) -> Message:
    """As `lock_own_post`; raises EditWindowClosed (409) after EDIT_MINUTES, BannedFromCommunity (403)."""
    post = lock_own_post(auth=auth, message_id=message_id)
    if post.community_id is not None:
        post.community = open_community(
            community_id=post.community_id,
            auth=auth,
            page_url=post.page.normalized_url,
            source_embed=post.embed_id,
        )
    if database_now() > post.created_at + timedelta(minutes=settings.EDIT_MINUTES):
        raise EditWindowClosed(max=settings.EDIT_MINUTES)
    return post


def edit_message(*, post: Message, changes: Mapping[str, Any], auth: Credential, transaction: WriteTransaction) -> None:
    """Change columns of a post that `lock_for_edit` has returned; equal values change nothing.

    Raises the errors of createMessage for content, and TooManyEdits (409).
    """
    changed = {column: value for column, value in changes.items() if not _is_equal(getattr(post, column), value)}
    if not changed:
        return
    draft = _checked_draft(post, changed)
    if post.versions.count() >= EDITS_MAX:
        raise TooManyEdits(max=EDITS_MAX)
    now = database_now()
    store_version(post, now=now)
    forget_names_about(Message, [post.pk])
    is_public = post.status == MessageStatus.PUBLISHED
    if auth.is_reviewed or post.operator_review == OperatorReview.WAITING:
        changed["operator_review"] = OperatorReview.WAITING
        if is_public:
            _withdraw(post, changed, now=now)
        else:
            _update(post, {**changed, "held_after_edit": post.is_held}, now=now)
        record_edited_draft(post, was_public=is_public, operator_id=auth.operator_id, transaction=transaction)
    elif is_public and draft.community is not None and draft.community.needs_approval(post.author_kind):
        _withdraw(post, changed, now=now)
        record_held(post, transaction=transaction)
    else:
        # A post that waits because of reports was public; its approval tells those whom only the edit mentions.
        _update(post, {**changed, "held_after_edit": post.is_held}, now=now)
        if is_public:
            record_edited(post, transaction=transaction)
            _invalidate(post)


def _is_equal(stored: Any, sent: Any) -> bool:
    """As JSON: in Python, 1, 1.0 and True are equal."""
    return _json(stored) == _json(sent)


def _json(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def _checked_draft(post: Message, changed: Mapping[str, Any]) -> Draft:
    """The post as it would be, checked as a new one."""
    data = {field.column: getattr(post, field.model_field.attname) for field in BODY_FIELDS} | dict(changed)
    require_content(data)
    if "payload" in changed:
        require_tag(post.tag_type, data["payload"])
    draft = Draft(data, author_kind=post.author_kind)
    draft.community, draft.source_embed = post.community, post.embed_id
    if draft.community:
        draft.community.require_allowed(author_kind=post.author_kind, tag_type=post.tag_type)
    for rule in content_rules():
        rule.check(draft)
    return draft


def _withdraw(post: Message, changed: Mapping[str, Any], *, now: datetime) -> None:
    """Make the post pending again. The triggers hide all replies to it."""
    allow_long_statements(LONG_STATEMENT_SECONDS)
    _update(post, {**changed, "status": MessageStatus.PENDING, "held_after_edit": True}, now=now)
    count_answer(parent_id=post.parent_id, quote_id=post.quote_id, by=-1)
    invalidate(EVERYTHING)


def _update(post: Message, columns: Mapping[str, Any], *, now: datetime) -> None:
    move_closing([post.pk], to=now)
    columns = {**columns, "edited_at": now, "updated_at": now}
    for column, value in columns.items():
        setattr(post, column, value)
    post.save(update_fields=list(columns))


def _invalidate(post: Message) -> None:
    invalidate_message(page_id=post.page_id, message_id=post.pk, community_id=post.community_id)
    if post.quote_count:
        # Every list may contain a quote of the post.
        invalidate(EVERYTHING)


SHOWN_MAX = 20
VALUE_MAX = 60


def describe_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """`read only (no → yes), blocked words (+spam, −ham)`, for the columns of `after`."""
    return ", ".join(
        f"{column.replace('_', ' ')} ({_difference(before.get(column), value)})" for column, value in after.items()
    )


def _difference(before: Any, after: Any) -> str:
    if not isinstance(after, list):
        return f"{_text(before)} → {_text(after)}"
    if isinstance(before, str):
        return f"{_text(before)} → {', '.join(_some([_text(one) for one in after]))}"
    before = before or []
    added = [f"+{_text(one)}" for one in after if one not in before]
    removed = [f"−{_text(one)}" for one in before if one not in after]
    # Each has its limit: many additions do not hide the removals.
    return ", ".join([*_some(added), *_some(removed)]) or "another order"


def _some(parts: list[str]) -> Iterable[str]:
    rest = len(parts) - SHOWN_MAX
    sign = parts[0][0] if parts and parts[0][0] in "+−" else ""
    return [*parts[:SHOWN_MAX], f"{rest} more {sign}".rstrip()] if rest > 0 else parts


def _text(value: Any) -> str:
    """Without the mark that separates a decision from its reason."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value).replace(": ", ":")[:VALUE_MAX].rstrip(": ") if value not in {None, ""} else "nothing"
