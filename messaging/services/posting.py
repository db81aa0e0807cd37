"""Writing a post, reply or quote."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from config.api.callers import Caller
from config.api.errors import InvalidInput
from config.api.ids import new_id
from config.api.sql import fetch_all
from config.api.unit import Unit
from messaging import records, smart_tags
from messaging.cache_tags import invalidate_message
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

INSERT = """
INSERT INTO messaging_message (id, page_id, community_id, author_id, author_kind, parent_id, quote_id, status,
    content, tag_type, payload, anchor_text, context_anchor, attachments, language, source_app, embed_id,
    reply_count, quote_count, reaction_counts, reaction_total, created_at, updated_at)
VALUES (%(id)s, %(page_id)s, %(community_id)s, %(author_id)s, %(author_kind)s, %(parent_id)s, %(quote_id)s,
    %(status)s, %(content)s, %(tag_type)s, %(payload)s, %(anchor_text)s, %(context_anchor)s, %(attachments)s,
    %(language)s, %(source_app)s, %(embed_id)s, 0, 0, '{}', 0, %(now)s, %(now)s)
"""
PUBLIC = "status = 'published'"


def create_message(*, caller: Caller, unit: Unit, draft: Draft) -> dict[str, Any]:
    """The record of the new post of `caller`, counted on what it answers. Each check raises its own refusal."""
    _check_fields(draft)
    place = find_place(unit, page_id=draft.page_id, parent_id=draft.parent_id, quote_id=draft.quote_id)
    draft.page_id = place.require_page()
    # The API has checked it before a replay; a caller of this function alone has not.
    caller.require_community(draft.community_id)
    for rule in content_rules():
        rule.prepare(draft)
    draft.community = _community(draft, place)
    place.require_answered()
    for rule in content_rules():
        rule.check(draft)
    unit.spend()
    values = _values(draft, author_id=caller.account.pk, now=place.now)
    unit.leave(INSERT, values)
    if values["status"] == MessageStatus.PUBLISHED:
        counted = count_answer(parent_id=draft.parent_id, quote_id=draft.quote_id, by=1, where=PUBLIC)
        place.require_answered(still_public=counted)
        invalidate_message(page_id=draft.page_id, message_id=values["id"])
    return records.new_record(values, author=caller.account, quote=place.quote)


def _values(draft: Draft, *, author_id: UUID, now: datetime) -> dict[str, Any]:
    return {
        "id": new_id(),
        "page_id": draft.page_id,
        "community_id": draft.community and draft.community.pk,
        "author_id": author_id,
        "author_kind": draft.author_kind,
        "parent_id": draft.parent_id,
        "quote_id": draft.quote_id,
        "status": _first_status(draft),
        "content": draft.content,
        "tag_type": draft.tag_type,
        "payload": _json(draft.payload),
        "anchor_text": draft.anchor_text,
        "context_anchor": _json(draft.context_anchor),
        "attachments": _json(draft.attachments),
        "language": draft.language,
        "source_app": draft.source_app,
        "embed_id": draft.source_embed,
        "now": now,
    }


def count_answer(*, parent_id: UUID | None, quote_id: UUID | None, by: int, where: str = "true") -> set[UUID]:
    """Raise or lower the counts on the posts that a message answers; returns those that met the condition.

    In id order, so that no two writes deadlock.
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
            f"UPDATE messaging_message SET {changes} WHERE id = %s AND {where} RETURNING page_id",  # noqa: S608  ours
            [*(by for _ in columns[message_id]), message_id],
        )
        for (page_id,) in rows:
            counted.add(message_id)
            invalidate_message(page_id=page_id, message_id=message_id)
    return counted


def _check_fields(draft: Draft) -> None:
    if not (draft.content.strip() or draft.tag_type or draft.attachments or draft.quote_id):
        raise EmptyMessage(details="Send content, a smart tag, an attachment or a quote.")
    _check_tag(draft.tag_type, draft.payload)
    if not is_page_id(draft.page_id):
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


def _community(draft: Draft, place: Place) -> Community | None:
    """The community a post goes to, once its rules allow the post."""
    community_id = draft.community_id
    if place.has_parent:
        if community_id not in (None, place.parent_community_id):
            raise CommunityMismatch(field="communityId", details="A reply belongs to the community of its parent.")
        community_id = place.parent_community_id
    if community_id is None:
        return None
    community = Community.objects.filter(pk=community_id).first()
    if community is None:
        raise CommunityNotFound
    if not community.allows(author_kind=draft.author_kind, tag_type=draft.tag_type):
        raise CommunityForbids
    return community


def _first_status(draft: Draft) -> MessageStatus:
    held_back = draft.community is not None and draft.community.holds_back(draft.author_kind)
    return MessageStatus.PENDING if held_back else MessageStatus.PUBLISHED


def _json(value: Any) -> str | None:
    return None if value is None else orjson.dumps(value).decode()
