"""Writing a post, reply or quote."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

import orjson
from django.db import transaction
from django.utils import timezone

from config.api import limits
from config.api.callers import Caller
from config.api.errors import InvalidInput
from config.api.ids import new_id
from config.api.limits import Budget
from config.api.sql import fetch_all
from messaging import records, smart_tags
from messaging.errors import (
    CommunityForbids,
    CommunityMismatch,
    CommunityNotFound,
    EmptyMessage,
    InvalidPayload,
    UnknownPage,
)
from messaging.models import Community, MessageStatus
from messaging.page_ids import is_page_id
from messaging.rules import Draft, content_rules
from messaging.services.place import Place, find_place
from messaging.subjects import touch_message

# The hourly limits are spent by the statement that writes the post.
INSERT = records.inserting(
    """
    INSERT INTO messaging_message (id, page_id, community_id, author_id, author_kind, parent_id, quote_id, status,
        content, tag_type, payload, anchor_text, context_anchor, attachments, language, source_app, embed_id,
        reply_count, quote_count, reaction_counts, reaction_total, created_at, updated_at)
    VALUES (%(id)s, %(page_id)s, %(community_id)s, %(author_id)s, %(author_kind)s, %(parent_id)s, %(quote_id)s,
        %(status)s, %(content)s, %(tag_type)s, %(payload)s, %(anchor_text)s, %(context_anchor)s, %(attachments)s,
        %(language)s, %(source_app)s, %(embed_id)s, 0, 0, '{}', 0, %(now)s, %(now)s)
    """,
    beside=limits.ENTRIES,
)


# No savepoint inside the transaction of a request: a refusal rolls back the whole of it anyway.
@transaction.atomic(savepoint=False)
def create_message(
    *,
    caller: Caller,
    budget: Budget,
    page_id: str,
    content: str = "",
    community_id: UUID | None = None,
    parent_id: UUID | None = None,
    quote_id: UUID | None = None,
    tag_type: str | None = None,
    payload: dict[str, Any] | None = None,
    anchor_text: str | None = None,
    context_anchor: dict[str, Any] | None = None,
    attachments: list[dict[str, str]] | None = None,
    language: str | None = None,
    source_app: str | None = None,
    embed_id: str | None = None,
    origin: str | None = None,
) -> dict[str, Any]:
    """The record of the new post of `caller`, counted on what it answers. Each check raises its own refusal."""
    author_kind = caller.account.kind
    _check_fields(page_id, content, tag_type, payload, attachments, quote_id)
    place = find_place(page_id=page_id, parent_id=parent_id, quote_id=quote_id)
    place.require_page()
    caller.require_community(community_id)
    draft = Draft(
        author_kind=author_kind,
        page_id=page_id,
        community_id=community_id,
        content=content,
        anchor_text=anchor_text,
        payload=payload,
        is_reply=parent_id is not None,
        embed_id=embed_id,
        origin=origin,
    )
    for rule in content_rules():
        rule.prepare(draft)
    draft.community = _community(draft.community_id, place, tag_type, author_kind)
    place.require_answered()
    for rule in content_rules():
        rule.check(draft)
    budget.require_places()
    status = _first_status(draft.community, author_kind)
    (row,) = fetch_all(
        INSERT,
        budget.values
        | {
            "id": new_id(),
            "page_id": page_id,
            "community_id": draft.community and draft.community.pk,
            "author_id": caller.account.pk,
            "author_kind": author_kind,
            "parent_id": parent_id,
            "quote_id": quote_id,
            "status": status,
            "content": content,
            "tag_type": tag_type,
            "payload": _json(payload),
            "anchor_text": anchor_text,
            "context_anchor": _json(context_anchor),
            "attachments": _json(attachments or []),
            "language": language,
            "source_app": source_app,
            "embed_id": draft.source_embed,
            "now": timezone.now(),
        },
    )
    if status == MessageStatus.PUBLISHED:
        count_answer(parent_id=parent_id, quote_id=quote_id, by=1)
        touch_message(page_id=page_id, message_id=row[0])
    return records.message_record(row)


def count_answer(*, parent_id: UUID | None, quote_id: UUID | None, by: int) -> None:
    """Raise or lower the counts on the posts that a message answers, in id order, so that no two writes deadlock."""
    columns: dict[UUID, list[str]] = {}
    if parent_id is not None:
        columns.setdefault(parent_id, []).append("reply_count")
    if quote_id is not None:
        columns.setdefault(quote_id, []).append("quote_count")
    for message_id in sorted(columns):
        changes = ", ".join(f"{column} = {column} + %s" for column in columns[message_id])
        counted = fetch_all(
            f"UPDATE messaging_message SET {changes} WHERE id = %s RETURNING page_id",  # noqa: S608  columns are ours
            [*(by for _ in columns[message_id]), message_id],
        )
        for (page_id,) in counted:
            touch_message(page_id=page_id, message_id=message_id)


def _check_fields(
    page_id: str,
    content: str,
    tag_type: str | None,
    payload: dict[str, Any] | None,
    attachments: Iterable[Any] | None,
    quote_id: UUID | None,
) -> None:
    if not content.strip() and not tag_type and not attachments and quote_id is None:
        raise EmptyMessage(details="Send content, a smart tag, an attachment or a quote.")
    _check_tag(tag_type, payload)
    if not is_page_id(page_id):
        raise UnknownPage


def _check_tag(tag_type: str | None, payload: dict[str, Any] | None) -> None:
    if tag_type is None:
        if payload is not None:
            raise InvalidInput(field="tagType", details="A payload needs a tagType; see GET /v1/smart-tags.")
        return
    if not smart_tags.is_known(tag_type):
        raise InvalidInput(field="tagType", details="Unknown smart tag type; see GET /v1/smart-tags.")
    problems = smart_tags.validate_payload(tag_type, payload or {})
    if problems:
        raise InvalidPayload(
            field="payload", details=[{"pointer": problem.pointer, "message": problem.message} for problem in problems]
        )


def _community(community_id: UUID | None, place: Place, tag_type: str | None, author_kind: str) -> Community | None:
    """The community a post goes to, once its rules allow the post."""
    if place.has_parent:
        if community_id is not None and community_id != place.parent_community_id:
            raise CommunityMismatch(field="communityId", details="A reply belongs to the community of its parent.")
        community_id = place.parent_community_id
    if community_id is None:
        return None
    community = Community.objects.filter(pk=community_id).first()
    if community is None:
        raise CommunityNotFound
    if not community.allows(author_kind=author_kind, tag_type=tag_type):
        raise CommunityForbids
    return community


def _first_status(community: Community | None, author_kind: str) -> MessageStatus:
    held_back = community is not None and community.holds_back(author_kind)
    return MessageStatus.PENDING if held_back else MessageStatus.PUBLISHED


def _json(value: Any) -> str | None:
    return None if value is None else orjson.dumps(value).decode()
