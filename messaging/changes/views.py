from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework.decorators import action

from kernel.api.context import ApiRequest
from kernel.api.credentials import CredentialKind
from kernel.api.operations import operation
from kernel.api.pagination import bound_to
from kernel.api.requests import Response
from kernel.api.viewsets import ApiViewSet
from kernel.changes.channels import Channel
from kernel.changes.reading import CursorExpired
from kernel.changes.streams.opening import LAST_EVENT_ID, STREAM_ERRORS, Source, open_stream
from messaging.changes.items import items_of, listed, requested_batch
from messaging.changes.serializers import ChangeListSerializer, ChangeSerializer, ChangesQuery, ChangeStreamQuery
from messaging.pages.moving import moved_to
from messaging.posts.embed_views import embed_errors, shown_by


class ChangeViewSet(ApiViewSet):
    @operation(
        "listChanges",
        callers={CredentialKind.PUBLIC},
        query=ChangesQuery,
        response=ChangeListSerializer,
        errors=(CursorExpired, *embed_errors()),
    )
    def list(self, request: ApiRequest) -> Response:
        """List the public changes of posts and reactions, oldest first.

        Each once; none is skipped. Without a cursor, from the oldest that is stored (30 days).
        """
        query = self.query()
        bound = bound_to("changes", filters_of(query))
        batch = requested_batch(channel_of(query), query, bound_to=bound)
        if not batch.rows and (moved := moved_channel(query)) is not None:
            batch = requested_batch(moved, query, bound_to=bound)
        items = items_of(query.get("embed_id"), of_page="page_id" in query)
        return Response(listed(batch, key="changes", items=items, bound_to=bound))

    @action(detail=False)
    @operation(
        "streamChanges",
        callers={CredentialKind.PUBLIC},
        query=ChangeStreamQuery,
        headers=[LAST_EVENT_ID],
        event=ChangeSerializer,
        errors=(*STREAM_ERRORS, *embed_errors()),
    )
    def stream(self, request: ApiRequest) -> Response:
        """Follow the public changes live, as server-sent events.

        The stream goes on after `Last-Event-ID` or `cursor`, also one of the list.
        """
        query = self.query()
        channel = moved_channel(query) or channel_of(query)
        items = items_of(query.get("embed_id"), of_page="page_id" in query)
        source = Source(items, channel, bound_to("changes", filters_of(query)))
        return open_stream(request, query, source)


def filters_of(query: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that cursors are bound to."""
    return {name: query.get(name) for name in ("page_id", "community_id", "embed_id", "types")}


def moved_channel(query: Mapping[str, Any]) -> Channel | None:
    """The channel of the page that the id of a moved page redirects to; cursors stay bound to the id in the query.

    A list asks for it after it has found nothing: before, the page could be moved between the two queries.
    """
    page_id = moved_to(query["page_id"]) if "page_id" in query else None
    return None if page_id is None else channel_of({**query, "page_id": page_id})


def channel_of(query: Mapping[str, Any]) -> Channel:
    """Raises the `embed_errors`. What an embed with posts of everyone shows is found among the rows."""
    shown = shown_by(query.get("embed_id"))
    return Channel(
        page_id=query.get("page_id"),
        community_id=shown.community_id if shown and not shown.everyone else query.get("community_id"),
        types=frozenset(query.get("types", ())),
    )
