"""Events for moderators and super admins: rows of the change log that no reader gets. `mails` makes mails of them."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from kernel.changes.log import NewChange
from messaging.models import Message

# The largest UUID. No account has it (ids are UUIDv7, or the smallest ones for the heirs of erased people), so the rows
# are in nobody's inbox, and with an account they are no public change.
SERVICE = UUID(int=(1 << 128) - 1)


class ServiceEvent(StrEnum):
    AGENT_REQUESTED = "agent_requested"
    POST_PENDING = "post_pending"
    POST_REPORTED = "post_reported"
    TROUBLE_BEGAN = "trouble_began"
    TROUBLE_ENDED = "trouble_ended"


def about_post(event: ServiceEvent, *, page_id: str, community_id: UUID | None, message_id: UUID) -> NewChange:
    """They name neither the author nor who has reported the post."""
    return NewChange(type=event, page_id=page_id, community_id=community_id, message_id=message_id, account_id=SERVICE)


def about_stored_post(event: ServiceEvent, post: Message) -> NewChange:
    return about_post(event, page_id=post.page_id, community_id=post.community_id, message_id=post.pk)


def about_request(request_id: UUID) -> NewChange:
    data: dict[str, Any] = {"requestId": request_id}
    return NewChange(type=ServiceEvent.AGENT_REQUESTED, account_id=SERVICE, data=data)


def about_trouble(event: ServiceEvent, *, text: str, since: datetime) -> NewChange:
    """`text` says what is wrong, `since` when it was first seen."""
    return NewChange(type=event, account_id=SERVICE, data={"text": text, "since": since.isoformat()})
