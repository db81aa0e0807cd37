"""Writing a post, reply or quote."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.utils import timezone

from config.api.callers import Caller
from config.api.errors import InvalidInput
from config.api.limits import Budget
from messaging import smart_tags
from messaging.errors import (
    CommunityForbids,
    CommunityMismatch,
    CommunityNotFound,
    EmptyMessage,
    InvalidPayload,
    ParentNotFound,
    QuoteNotFound,
    UnknownPage,
)
from messaging.models import Community, Message, MessageStatus, Page
from messaging.page_ids import is_page_id
from messaging.rules import Draft, content_rules


@transaction.atomic
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
) -> Message:
    """The new post of `caller`, counted on what it answers. Each check raises its own refusal."""
    author = caller.account
    _check_fields(page_id, content, tag_type, payload, attachments, quote_id)
    caller.require_community(community_id)
    parent, quote = _published(parent_id, quote_id, page_id)
    draft = Draft(
        author_kind=author.kind,
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
    draft.community = _community(draft.community_id, parent, tag_type, author.kind)
    _require_found(parent_id, parent, quote_id, quote)
    for rule in content_rules():
        rule.check(draft)
    budget.spend()
    now = timezone.now()
    message = Message(
        page_id=page_id,
        community=draft.community,
        author=author,
        author_kind=author.kind,
        parent=parent,
        quote=quote,
        status=_first_status(draft.community, author.kind),
        content=content,
        tag_type=tag_type,
        payload=payload,
        anchor_text=anchor_text,
        context_anchor=context_anchor,
        attachments=attachments or [],
        language=language,
        source_app=source_app,
        embed_id=draft.source_embed,
        created_at=now,
        updated_at=now,
    )
    message.save(force_insert=True)
    if message.status == MessageStatus.PUBLISHED:
        count_answer(parent_id=parent_id, quote_id=quote_id, by=1)
    return message


def count_answer(*, parent_id: UUID | None, quote_id: UUID | None, by: int) -> None:
    """Raise or lower the counts on the posts that a message answers, in id order, so that no two writes deadlock."""
    columns: dict[UUID, list[str]] = {}
    if parent_id is not None:
        columns.setdefault(parent_id, []).append("reply_count")
    if quote_id is not None:
        columns.setdefault(quote_id, []).append("quote_count")
    with connection.cursor() as cursor:
        for message_id in sorted(columns):
            changes = ", ".join(f"{column} = {column} + %s" for column in columns[message_id])
            cursor.execute(
                f"UPDATE messaging_message SET {changes} WHERE id = %s",  # noqa: S608  column names are ours
                [*(by for _ in columns[message_id]), message_id],
            )


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
    if not is_page_id(page_id) or not Page.objects.filter(pk=page_id).exists():
        raise UnknownPage(field="pageId", details="Ask POST /v1/presence/normalize-url for the id of the page first.")


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


def _published(parent_id: UUID | None, quote_id: UUID | None, page_id: str) -> tuple[Message | None, Message | None]:
    wanted = [message_id for message_id in (parent_id, quote_id) if message_id is not None]
    found = Message.objects.published().in_bulk(wanted) if wanted else {}
    parent = found.get(parent_id)
    return (parent if parent is not None and parent.page_id == page_id else None), found.get(quote_id)


def _community(
    community_id: UUID | None, parent: Message | None, tag_type: str | None, author_kind: str
) -> Community | None:
    """The community a post goes to, once its rules allow the post."""
    if parent is not None:
        if community_id is not None and community_id != parent.community_id:
            raise CommunityMismatch(field="communityId", details="A reply belongs to the community of its parent.")
        community_id = parent.community_id
    if community_id is None:
        return None
    community = Community.objects.filter(pk=community_id).first()
    if community is None:
        raise CommunityNotFound
    if not community.allows(author_kind=author_kind, tag_type=tag_type):
        raise CommunityForbids
    return community


def _require_found(
    parent_id: UUID | None, parent: Message | None, quote_id: UUID | None, quote: Message | None
) -> None:
    if parent_id is not None and parent is None:
        raise ParentNotFound
    if quote_id is not None and quote is None:
        raise QuoteNotFound


def _first_status(community: Community | None, author_kind: str) -> MessageStatus:
    held_back = community is not None and community.holds_back(author_kind)
    return MessageStatus.PENDING if held_back else MessageStatus.PUBLISHED
