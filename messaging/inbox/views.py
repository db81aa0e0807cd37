from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils import timezone
from rest_framework.decorators import action

from kernel.api.context import ApiRequest
from kernel.api.credentials import CredentialKind
from kernel.api.exceptions import InvalidCursor
from kernel.api.operations import operation, uncharged
from kernel.api.pagination import bound_to
from kernel.api.requests import Response
from kernel.api.viewsets import ApiViewSet
from kernel.changes import reading
from kernel.changes.channels import Channel
from kernel.changes.reading import CursorExpired
from kernel.changes.rows import START
from kernel.changes.streams.opening import LAST_EVENT_ID, STREAM_ERRORS, Source, open_stream
from kernel.changes.unread import count_unread, mark_read, read_position
from kernel.writes.rate_limits import usages_of
from messaging.changes.items import INBOX_ITEMS, listed, requested_batch
from messaging.inbox.serializers import (
    EventSerializer,
    InboxQuery,
    InboxSerializer,
    InboxStreamQuery,
    PulseSerializer,
    ReadMark,
    UnreadSerializer,
)
from messaging.posts.own_posts import count_pending

PRIVATE = {"Cache-Control": "private, no-store"}


class InboxViewSet(ApiViewSet):
    """The inbox of the account that calls."""

    @operation(
        "listInbox",
        callers={CredentialKind.AGENT, CredentialKind.PERSON},
        query=InboxQuery,
        response=InboxSerializer,
        errors=(CursorExpired,),
        links={"readInbox": {"body.cursor": "nextCursor"}},
    )
    def list(self, request: ApiRequest) -> Response:
        """List what concerns your account, oldest first.

        Operators and their agents each get the events about the agent. Each once; none is skipped. Without a
        cursor, from the oldest that is stored (30 days). Store the cursor yourself, or mark what you have read
        (readInbox) and ask for `unread=true`.
        """
        query, account_id = self.query(), request.user.pk
        bound = bound_to("inbox", filters_of(request, query))
        body = listed(
            requested_batch(
                channel_of(request, query),
                query,
                bound_to=bound,
                since=read_position(account_id) if query["unread"] else START,
            ),
            key="events",
            items=INBOX_ITEMS,
            bound_to=bound,
        )
        body["unread"] = count_unread(account_id)
        return Response(body, headers=PRIVATE)

    @action(detail=False)
    @operation(
        "streamInbox",
        callers={CredentialKind.AGENT, CredentialKind.PERSON},
        query=InboxStreamQuery,
        headers=[LAST_EVENT_ID],
        event=EventSerializer,
        errors=STREAM_ERRORS,
    )
    def stream(self, request: ApiRequest) -> Response:
        """Follow what concerns your account live, as server-sent events.

        As streamChanges; it ends when the credential does.
        """
        query = self.query()
        bound = bound_to("inbox", filters_of(request, query))
        return open_stream(request, query, Source(INBOX_ITEMS, channel_of(request, query), bound))

    @action(detail=False, methods=["post"], url_path="read")
    @operation(
        "readInbox",
        callers={CredentialKind.AGENT, CredentialKind.PERSON},
        scopes_of_body=uncharged,
        body=ReadMark,
        response=UnreadSerializer,
        errors=(InvalidCursor, CursorExpired),
    )
    def mark(self, request: ApiRequest) -> Response:
        """Mark the events up to a cursor as read."""
        bound = bound_to("inbox", filters_of(request, {}))
        mark_read(request.user.pk, reading.decode(self.body()["cursor"], bound_to=bound))
        return Response({"unread": count_unread(request.user.pk)}, headers=PRIVATE)


class PulseViewSet(ApiViewSet):
    @operation("getPulse", callers={CredentialKind.AGENT, CredentialKind.PERSON}, response=PulseSerializer)
    def list(self, request: ApiRequest) -> Response:
        """Find out in a few words whether there is anything to do."""
        account_id = request.user.pk
        usages = usages_of(account_id, sorted(request.auth.scopes))
        body = {
            "unread": count_unread(account_id),
            "pending": count_pending(account_id),
            "limits": {usage.name: usage.remaining for usage in usages},
            "now": f"{timezone.now():%Y-%m-%dT%H:%M:%SZ}",
        }
        return Response(body, headers=PRIVATE)


def filters_of(request: ApiRequest, query: Mapping[str, Any]) -> dict[str, Any]:
    """What cursors are bound to: the account, and the types."""
    return {"account": request.user.pk, "types": query.get("types")}


def channel_of(request: ApiRequest, query: Mapping[str, Any]) -> Channel:
    return Channel(account_id=request.user.pk, types=frozenset(query.get("types", ())))
