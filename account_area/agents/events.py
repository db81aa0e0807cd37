"""The events of an inbox as a page shows them, newest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson

from agents.models import Agent, AgentRequest, AgentToken, RequestStatus
from agents.words import asked_and_granted
from kernel.api.pagination import bound_to
from kernel.changes import reading
from kernel.changes.rows import ChangeRow, Cursor, Position
from kernel.changes.unread import cut_latest, read_latest
from messaging.changes.items import Related, related_to
from messaging.changes.types import InboxType
from messaging.models import Community, Message, MessageStatus, OperatorReview

SHOWN = 30
OF_MODERATORS = frozenset({InboxType.POST_REPORTED, InboxType.POST_PENDING})


@dataclass(frozen=True, slots=True)
class Event:
    """`handle`: of the agent that the event is about. `message`: the post as in the API, None if it is not public.

    `draft`: the post that waits for the person, with its text of now.
    `community`: the one in which posts wait for the person. `grants`: of an approval that granted less than was asked.
    """

    row: ChangeRow
    actor: dict[str, Any] | None
    message: dict[str, Any] | None
    draft: Message | None
    handle: str | None
    community: Community | None
    grants: Sequence[tuple[str, str]]
    is_new: bool
    is_widening: bool

    @property
    def data(self) -> dict[str, Any]:
        return self.row.data or {}


@dataclass(frozen=True, slots=True)
class InboxPage:
    """`newest` and `older` are cursors: up to the newest event shown, and where the older ones begin."""

    events: Sequence[Event]
    newest: str
    older: str | None


def inbox_page(account_id: UUID, *, before: str | None, read_up_to: Position | None) -> InboxPage:
    """`read_up_to`: later events are new; None: none is. Raises InvalidCursor (400)."""
    bound = bound_to("account-inbox", {"account": account_id})
    batch = read_latest(account_id, reading.decode(before, bound_to=bound) if before else None, limit=SHOWN)
    related = related_to(batch.rows)
    batch = cut_latest(batch, len(related.rows))
    requests = _requests(batch.rows)
    handles = _handles(batch.rows) | {pk: request.agent_handle for pk, request in requests.items()}
    grants = {str(pk): grants for pk, grants in asked_and_granted(requests.values()).items()}
    communities = _communities(batch.rows)
    drafts = _drafts(batch.rows, account_id)
    widenings = {pk for pk, request in requests.items() if request.widens_id is not None}
    events = [
        _event(
            *(row, related, drafts, handles, communities, grants, widenings),
            is_new=read_up_to is not None and row.position > read_up_to,
        )
        for row in batch.rows
    ]
    newest = batch.cursor_after(batch.rows[0]) if batch.rows else batch.next
    older = reading.encode(batch.next, bound_to=bound) if batch.has_more else None
    return InboxPage(events, reading.encode(newest, bound_to=bound), older)


def cursor_of(text: str, account_id: UUID) -> Cursor:
    """A cursor of `InboxPage`; raises InvalidCursor (400)."""
    return reading.decode(text, bound_to=bound_to("account-inbox", {"account": account_id}))


def _event(
    row: ChangeRow,
    related: Related,
    drafts: dict[UUID, Message],
    handles: dict[str, str],
    communities: dict[UUID, Community],
    grants: dict[str, list[tuple[str, str]]],
    widenings: set[str],
    *,
    is_new: bool,
) -> Event:
    body = None if row.message_id is None else related.messages.get(row.message_id)
    message = None if body is None else orjson.loads(body)
    about = next((handles[found] for found in _ids(row).values() if found in handles), None)
    community = communities.get(row.community_id) if row.community_id and row.type in OF_MODERATORS else None
    data = row.data or {}
    granted = grants.get(str(data.get("requestId")), []) if data.get("status") == RequestStatus.APPROVED else []
    return Event(
        row=row,
        actor=related.actor(row),
        message=message,
        draft=drafts.pop(row.message_id, None) if row.message_id and row.type == InboxType.APPROVAL_NEEDED else None,
        handle=about,
        community=community,
        grants=granted,
        is_new=is_new,
        is_widening=str(data.get("requestId")) in widenings,
    )


def _drafts(rows: Sequence[ChangeRow], account_id: UUID) -> dict[UUID, Message]:
    """The posts that wait for the person: one query if there are such events. The latest event of each has it."""
    ids = {row.message_id for row in rows if row.message_id and row.type == InboxType.APPROVAL_NEEDED}
    if not ids:
        return {}
    waiting = Message.objects.filter(status=MessageStatus.PENDING, operator_review=OperatorReview.WAITING)
    own = waiting.filter(pk__in=ids, author__agent__operator=account_id, author__is_active=True)
    return {post.pk: post for post in own.select_related("page", "community")}


def _communities(rows: Sequence[ChangeRow]) -> dict[UUID, Community]:
    """The communities in which posts wait: one query if there are such events."""
    ids = {row.community_id for row in rows if row.community_id and row.type in OF_MODERATORS}
    return Community.objects.only("name", "slug").in_bulk(ids) if ids else {}


def _requests(rows: Sequence[ChangeRow]) -> dict[str, AgentRequest]:
    """The requests that events decide, by id: one query if there are such events."""
    ids = {ids["requestId"] for ids in map(_ids, rows) if "requestId" in ids}
    found = AgentRequest.objects.filter(pk__in=ids).select_related("agent", "widens")
    return {str(request.pk): request for request in found}


def _ids(row: ChangeRow) -> dict[str, str]:
    """The ids of a request, an agent and a token in the data of an event, by name."""
    return {name: str(value) for name, value in (row.data or {}).items() if name == "requestId" or name in _HANDLES_BY}


# How to find the handle of the agent that an event names: (rows by id, the path to the handle).
_HANDLES_BY: dict[str, tuple[Any, str]] = {
    "agentId": (Agent.objects, "account__handle"),
    "tokenId": (AgentToken.objects, "agent__account__handle"),
}


def _handles(rows: Sequence[ChangeRow]) -> dict[str, str]:
    """The handles of agents by the ids in events: one query for each kind of id that there is."""
    found: dict[str, str] = {}
    for name, (objects, path) in _HANDLES_BY.items():
        ids = {ids[name] for ids in map(_ids, rows) if name in ids}
        if ids:
            found |= {str(pk): handle for pk, handle in objects.filter(pk__in=ids).values_list("pk", path)}
    return found
