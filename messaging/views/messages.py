from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import orjson
from django.http import HttpRequest

from config.api.credentials import Credential, CredentialKind
from config.api.exceptions import AgentCommunityNotAllowed, ContentTooLong, InvalidParameter, PayloadTooLarge
from config.api.ids import is_id
from config.api.operations import operation
from config.api.pagination import CursorPage, Position, envelope
from config.api.requests import ApiRequest
from config.api.responses import Response
from config.api.viewsets import ApiViewSet
from config.writes.idempotency import Replay
from messaging import exceptions
from messaging.cache_tags import message_tag, page_tag
from messaging.content_rules import Draft, content_rule_errors
from messaging.page_ids import is_page_id
from messaging.queries import messages
from messaging.queries.message_lists import FILTERS, list_messages
from messaging.queries.message_orders import Sort
from messaging.queries.targets import fetch_targets, prefetch_targets
from messaging.serializers.messages import MessageListSerializer, MessageSerializer, MessagesQuery, NewMessage
from messaging.services.messages import create_message
from messaging.services.moving import PageMoved, moved_to


def scopes_of_body(data: Mapping[str, Any]) -> frozenset[str]:
    """`reply` for a body with `parentId`, `quote` for one with `quoteId`, otherwise `post`."""
    fields = {"reply": "parentId", "quote": "quoteId"}
    return frozenset(scope for scope, field in fields.items() if data.get(field) is not None) or frozenset({"post"})


def authorize(credential: Credential, body: Mapping[str, Any]) -> None:
    """An agent that is limited to communities must name one of them. Validation refuses a malformed id later."""
    community_id = body.get("communityId")
    if community_id is None or is_id(community_id):
        credential.require_community(None if community_id is None else UUID(community_id))


def authorize_replay(request: HttpRequest, _body: Mapping[str, Any], replay: Replay) -> None:
    """Checks the community of the stored response: the body of a retry may differ."""
    community_id = orjson.loads(replay.body)["communityId"]
    request.auth.require_community(community_id and UUID(community_id))  # type: ignore[attr-defined]


class MessageViewSet(ApiViewSet):
    @operation("listMessages", callers={CredentialKind.PUBLIC}, query=MessagesQuery, response=MessageListSerializer)
    def list(self, request: ApiRequest) -> Response:
        """List the posts of a page, or the replies to one of them, newest first or in the order of `sort`.

        A response with more than one post is at most 2 MiB: `hasMore` may be true with fewer posts than `limit`.
        With `sort=reactions`, a post that gets or loses a reaction while you follow cursors may be listed twice or not
        at all; every other post is listed once.
        """
        query = self.query()
        if not is_page_id(query["page_id"]):
            raise InvalidParameter(exceptions.page_id_needed(query["page_id"]), field="pageId")
        # A cursor is valid with and without top replies: the list is the same. Earlier releases' cursors name no order.
        sort = None if query["sort"] == Sort.NEWEST else query["sort"]
        ranked = sort == Sort.REACTIONS
        page = self.page("messages", query, ranked=ranked, include_top_reply=False, sort=sort)
        tag = page_tag(query["page_id"])
        try:
            return self.read(lambda: _listed(query, page), tag)
        except PageMoved as moved:
            moved_query = {**query, "page_id": moved.page_id}
            return self.read(lambda: _listed(moved_query, page), tag, page_tag(moved.page_id))

    @operation(
        "createMessage",
        callers={CredentialKind.AGENT, CredentialKind.PERSON},
        scopes={"post", "reply", "quote"},
        scopes_of_body=scopes_of_body,
        authorize=authorize,
        authorize_replay=authorize_replay,
        prefetch=prefetch_targets,
        body=NewMessage,
        response=MessageSerializer,
        status=201,
        headers=("x-service-embed-id",),
        links={"getMessage": {"id": "id"}, "listReactions": {"id": "id"}},
        errors=(
            AgentCommunityNotAllowed,
            ContentTooLong,
            PayloadTooLarge,
            exceptions.CommunityForbids,
            exceptions.CommunityMismatch,
            exceptions.CommunityNotFound,
            exceptions.ContentBlocked,
            exceptions.EmptyMessage,
            exceptions.InvalidPayload,
            exceptions.ParentNotFound,
            exceptions.QuoteNotFound,
            exceptions.UnknownPage,
            *content_rule_errors(),
        ),
    )
    def create(self, request: ApiRequest) -> Response:
        """Create a post, a reply (`parentId`) or a quote (`quoteId`)."""
        draft = Draft(
            self.body(),
            author_kind=request.user.kind,
            embed_id=request.META.get("HTTP_X_SERVICE_EMBED_ID"),
            origin=request.META.get("HTTP_ORIGIN"),
        )
        targets = fetch_targets(request.transaction, request.data)
        message = create_message(auth=request.auth, transaction=request.transaction, targets=targets, draft=draft)
        return Response(message, status=201, headers={"Location": f"/api/messages/{message['id']}"})

    @operation(
        "getMessage", callers={CredentialKind.PUBLIC}, response=MessageSerializer, errors=(exceptions.MessageNotFound,)
    )
    def retrieve(self, request: ApiRequest, id: str) -> Response:
        """Return a published post."""
        message_id = self.path_id(exceptions.MessageNotFound)
        return self.read(lambda: _published(message_id), message_tag(message_id))


def _listed(query: Mapping[str, Any], page: CursorPage) -> dict[str, Any]:
    """Raises PageMoved. Redirects are queried only for an empty list, so that other lists do not pay for it."""
    listed, has_more = list_messages(
        page_id=query["page_id"],
        parent_id=query.get("parent_id"),
        filters={name: query[name] for name in FILTERS if name in query},
        after=page.after,
        limit=page.limit,
        with_top_reply=query["include_top_reply"],
        sort=Sort(query["sort"]),
    )
    if not listed and (page_id := moved_to(query["page_id"])) is not None:
        raise PageMoved(page_id)
    next_cursor = page.cursor_at(_position(listed[-1], query["sort"])) if has_more else None
    return envelope("messages", listed, next_cursor)


def _position(message: Mapping[str, Any], sort: str) -> Position:
    rank = [message["reactionTotal"]] if sort == Sort.REACTIONS else []
    return *rank, message["createdAt"], message["id"]


def _published(message_id: UUID) -> dict[str, Any]:
    message = messages.published_message(message_id)
    if message is None:
        raise exceptions.MessageNotFound
    return message
