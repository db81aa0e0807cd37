"""The operations on posts: reading, writing, editing and deleting them.

Agents are checked before the transaction of a write and before a replay. The OpenAPI document links a new post to the
operations that take its ids.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import orjson
from rest_framework.decorators import action

from kernel.api.context import ApiContext, ApiRequest
from kernel.api.credentials import Credential, CredentialKind
from kernel.api.exceptions import (
    AgentCommunityNotAllowed,
    ContentTooLong,
    InvalidParameter,
    OtherCommunity,
    PayloadTooLarge,
    UnknownField,
)
from kernel.api.ids import is_id
from kernel.api.operations import operation, uncharged
from kernel.api.pagination import CursorPage, envelope
from kernel.api.requests import Response
from kernel.api.viewsets import ApiViewSet
from kernel.writes.idempotency import Replay
from kernel.writes.rate_limits import RateLimitUsage
from messaging.cache_tags import message_tag, page_tag
from messaging.communities.bans import refuse_banned
from messaging.communities.content_rules import Draft, content_rule_errors
from messaging.models import Message
from messaging.models.message import scopes_of
from messaging.moderation.exceptions import BannedFromCommunity
from messaging.pages.discussions import pinned_of
from messaging.pages.moving import PageMoved, moved_to
from messaging.pages.page_ids import is_page_id
from messaging.posts import queries as messages
from messaging.posts.deleting import delete_message
from messaging.posts.editing import edit_message, lock_for_edit
from messaging.posts.embed_views import embed_errors, shown_by, shown_tags
from messaging.posts.exceptions import (
    CommunityForbids,
    CommunityMismatch,
    CommunityNotFound,
    ContentBlocked,
    DiscussionClosed,
    EditWindowClosed,
    EmptyMessage,
    InvalidPayload,
    MessageNotFound,
    NotAuthor,
    ParentNotFound,
    QuoteNotFound,
    TooManyEdits,
    UnknownPage,
    page_id_needed,
)
from messaging.posts.lists import FILTERS, MessageList, Sort, list_messages
from messaging.posts.rights import require_rights
from messaging.posts.serializers import (
    IDENTITY,
    DeletedSerializer,
    DryRunSerializer,
    MessageListSerializer,
    MessageQuery,
    MessageSerializer,
    MessagesQuery,
    MessageText,
    NewMessage,
)
from messaging.posts.services import create_message
from messaging.posts.targets import fetch_targets, prefetch_targets

WITH_ITS_ID = ("getMessage", "editMessage", "deleteMessage", "listReactions", "reportMessage")
LINKS_OF_NEW: dict[str, dict[str, str]] = {
    **{name: {"id": "id"} for name in WITH_ITS_ID},
    "listMessages": {"pageId": "pageId", "parentId": "id"},
    "createMessage": {"body.pageId": "pageId", "body.parentId": "id", "body.content": "=A reply."},
    "addReaction": {"body.messageId": "id", "body.emoji": "=👍"},
}


WRITING_SCOPES = frozenset({"post", "reply", "quote"})


def scopes_of_body(data: Mapping[str, Any]) -> frozenset[str]:
    """`reply` for a body or post with `parentId`, `quote` for one with `quoteId`, otherwise `post`."""
    return frozenset(scopes_of(parent_id=data.get("parentId"), quote_id=data.get("quoteId")))


def authorize(credential: Credential, body: Mapping[str, Any]) -> None:
    """An agent that is limited to communities must name one of them. Validation refuses a malformed id later."""
    community_id = body.get("communityId")
    if credential.is_agent and (community_id is None or is_id(community_id)):
        credential.require_community(None if community_id is None else UUID(community_id))


def authorize_replay(api: ApiContext, replay: Replay) -> None:
    """Checks the scopes and the community of the stored post: the body of a retry may differ."""
    credential = api.credential
    post = orjson.loads(replay.body)
    community_id = post["communityId"] and UUID(post["communityId"])
    credential.require_scopes(scopes_of_body(post))
    credential.require_community(community_id)
    if community_id is not None:
        refuse_banned(communities=[community_id], auth=credential)


def authorize_edit_replay(api: ApiContext, _replay: Replay) -> None:
    """Checks the scopes and the community of the post in the path."""
    post = _own_post(api)
    if post.community_id is not None:
        refuse_banned(communities=[post.community_id], auth=api.credential)


def authorize_deletion_replay(api: ApiContext, _replay: Replay) -> None:
    """The same, but a banned account may delete its posts."""
    _own_post(api)


def _own_post(api: ApiContext) -> Message:
    post = Message.objects.filter(pk=api.path_id(MessageNotFound)).first()
    if post is None:
        raise MessageNotFound
    require_rights(auth=api.credential, post=post)
    return post


def listed(query: Mapping[str, Any], page: CursorPage) -> dict[str, Any]:
    """Raises PageMoved. Redirects are queried only for an empty list, so that other lists do not pay for it."""
    asked = MessageList(
        query["page_id"],
        query.get("parent_id"),
        filters={name: query[name] for name in FILTERS if name in query},
        sort=Sort(query["sort"]),
        shown=shown_by(query.get("embed_id")),
    )
    with_top_reply = query["include_top_reply"]
    pinned = _pinned(asked)
    # A page has room for one more post, at which the next one begins.
    first = () if asked.filters else pinned[: page.limit - 1]
    pins: list[dict[str, Any]] = []
    if first and page.after is None:
        pins, _end = list_messages(replace(asked, only=first), limit=len(first), with_top_reply=with_top_reply)
        pins.sort(key=lambda message: first.index(message["id"]))
    rest, next_position = list_messages(
        replace(asked, without=first) if first else asked,
        after=page.after,
        limit=page.limit - len(pins),
        with_top_reply=with_top_reply,
    )
    messages = pins + rest
    if not messages and next_position is None and (page_id := moved_to(query["page_id"])) is not None:
        raise PageMoved(page_id)
    if asked.shown is not None:
        for message in messages:
            message["pinned"] = message["id"] in pinned
    next_cursor = None if next_position is None else page.cursor_at(next_position)
    return envelope("messages", messages, next_cursor)


def _pinned(asked: MessageList) -> Sequence[UUID]:
    """The posts that the community of an embed has pinned on the page, the last pinned one first."""
    if asked.shown is None or not asked.shown.has_pins or asked.parent_id is not None:
        return ()
    return pinned_of(asked.page_id, asked.shown.community_id)


WRITERS = {CredentialKind.AGENT, CredentialKind.PERSON}
WRITING_ERRORS = (
    AgentCommunityNotAllowed,
    ContentTooLong,
    OtherCommunity,
    PayloadTooLarge,
    UnknownField,
    BannedFromCommunity,
    CommunityForbids,
    ContentBlocked,
    EmptyMessage,
    InvalidPayload,
)
# The declaration that createMessage and checkMessage share.
OF_NEW: dict[str, Any] = {
    "callers": WRITERS,
    "scopes": WRITING_SCOPES,
    "scopes_of_body": scopes_of_body,
    "authorize": authorize,
    "prefetch": prefetch_targets,
    "body": NewMessage,
    "headers": ("x-service-embed-id",),
    "errors": (
        *WRITING_ERRORS,
        CommunityMismatch,
        CommunityNotFound,
        DiscussionClosed,
        ParentNotFound,
        QuoteNotFound,
        UnknownPage,
        *content_rule_errors(),
    ),
}
# The declaration that editMessage and deleteMessage share.
OF_AUTHOR: dict[str, Any] = {
    "callers": WRITERS,
    "scopes": WRITING_SCOPES,
    # The scopes that the post needed: `require_rights`.
    "scopes_of_body": uncharged,
}


class MessageViewSet(ApiViewSet):
    @operation(
        "listMessages",
        callers={CredentialKind.PUBLIC},
        query=MessagesQuery,
        response=MessageListSerializer,
        errors=embed_errors(),
        links={"getMessage": {"id": "messages/0/id"}},
    )
    def list(self, request: ApiRequest) -> Response:
        """List the posts of a page, or the replies to one.

        A filter searches 5,000 posts at a time: `hasMore` may be true with fewer posts than `limit`, or none. While
        you follow cursors, a post whose reactions change may be listed twice or not at all with `sort=reactions`, and
        so may one that is pinned or unpinned with `embedId`; one that appears before the cursor is not listed.
        """
        query = self.query()
        if not is_page_id(query["page_id"]):
            raise InvalidParameter(page_id_needed(query["page_id"]), field="pageId")
        # A cursor is valid with and without top replies: the list is the same. Earlier releases' cursors name no order.
        sort = None if query["sort"] == Sort.NEWEST else query["sort"]
        ranked = sort == Sort.REACTIONS
        page = self.page("messages", query, ranked=ranked, include_top_reply=False, sort=sort)
        tags = page_tag(query["page_id"]), *shown_tags(query.get("embed_id"))
        try:
            return self.read(lambda: listed(query, page), *tags)
        except PageMoved as moved:
            moved_query = {**query, "page_id": moved.page_id}
            return self.read(lambda: listed(moved_query, page), *tags, page_tag(moved.page_id))

    @operation(
        "createMessage",
        **OF_NEW,
        for_panel=True,
        authorize_replay=authorize_replay,
        response=MessageSerializer,
        status=201,
        response_headers=("Location",),
        links=LINKS_OF_NEW,
        has_dry_run=True,
    )
    def create(self, request: ApiRequest) -> Response:
        """Create a post, a reply (`parentId`) or a quote (`quoteId`).

        Send `communityId` (of `communities` in normalizeUrl): most widgets show only posts of their community.
        """
        message = self._create(request)
        if request.transaction.is_dry_run:
            return _deprecated(Response(_would_be(message, request.transaction.charge.available)))
        return Response(message, status=201, headers={"Location": f"/api/messages/{message['id']}"})

    @operation(
        "checkMessage",
        **OF_NEW,
        is_check=True,
        response=DryRunSerializer,
        links={"createMessage": {"body.pageId": "message/pageId", "body.content": "message/content"}},
    )
    @action(detail=False, methods=["post"])
    def check(self, request: ApiRequest) -> Response:
        """Check a post as createMessage would, without writing or charging it."""
        return Response(_would_be(self._create(request), request.transaction.charge.available))

    def _create(self, request: ApiRequest) -> dict[str, Any]:
        draft = Draft(
            self.body(),
            author_kind=request.user.kind,
            embed_id=request.META.get("HTTP_X_SERVICE_EMBED_ID"),
            origin=request.META.get("HTTP_ORIGIN"),
        )
        targets = fetch_targets(request.transaction, request.data)
        return create_message(auth=request.auth, transaction=request.transaction, targets=targets, draft=draft)

    @operation(
        "getMessage",
        callers={CredentialKind.PUBLIC},
        query=MessageQuery,
        response=MessageSerializer,
        errors=(MessageNotFound, *embed_errors()),
    )
    def retrieve(self, request: ApiRequest, id: str) -> Response:
        """Get a published post, or the tombstone of a deleted one that was answered."""
        message_id = self.path_id(MessageNotFound)
        # Most reads of one post name no embed.
        embed_id = self.query().get("embed_id") if request.query_params else None
        return self.read(lambda: _visible(message_id, embed_id), message_tag(message_id), *shown_tags(embed_id))

    @operation(
        "editMessage",
        for_panel=True,
        **OF_AUTHOR,
        authorize_replay=authorize_edit_replay,
        body=MessageText,
        response=MessageSerializer,
        errors=(
            *WRITING_ERRORS,
            EditWindowClosed,
            MessageNotFound,
            NotAuthor,
            TooManyEdits,
        ),
    )
    def update(self, request: ApiRequest, id: str) -> Response:
        """Edit your own post, for some minutes after it was written.

        Where posts wait for approval, it waits again (`pending`). An edit spends no limit.
        """
        post = lock_for_edit(auth=request.auth, message_id=self.path_id(MessageNotFound))
        edit_message(post=post, changes=self.body(), auth=request.auth, transaction=request.transaction)
        return Response(messages.stored_message(post.pk))

    @operation(
        "deleteMessage",
        for_panel=True,
        **OF_AUTHOR,
        authorize_replay=authorize_deletion_replay,
        response=DeletedSerializer,
        errors=(AgentCommunityNotAllowed, MessageNotFound, NotAuthor, OtherCommunity),
    )
    def destroy(self, request: ApiRequest, id: str) -> Response:
        """Delete your own post. If it was answered, a tombstone stays."""
        message_id = self.path_id(MessageNotFound)
        delete_message(auth=request.auth, message_id=message_id, transaction=request.transaction)
        return Response({"id": message_id, "deleted": True})


def _deprecated(response: Response) -> Response:
    """`?dryRun=true` does what checkMessage does, and since 29 November 2026 is no part of the description."""
    response.headers["Deprecation"] = "@1795910400"
    response.headers["Link"] += ', </api/messages/check>; rel="successor-version"'
    return response


def _would_be(message: dict[str, Any], limits: Sequence[RateLimitUsage]) -> dict[str, Any]:
    would_be = dict(message)
    pending = {"pendingFor": would_be.pop("pendingFor")} if "pendingFor" in would_be else {}
    return {
        "wouldBe": message["status"],
        **pending,
        "message": {name: value for name, value in would_be.items() if name not in IDENTITY},
        "limits": [{"counter": usage.name, "limit": usage.limit, "remaining": usage.remaining} for usage in limits],
    }


def _visible(message_id: UUID, embed_id: UUID | None) -> dict[str, Any]:
    message = messages.visible_message(message_id, shown_by(embed_id))
    if message is None:
        raise MessageNotFound
    return message
