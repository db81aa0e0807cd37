from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiResponse

from kernel.api.credentials import CredentialKind
from kernel.api.exceptions import AgentCommunityNotAllowed, ContentTooLong, InvalidParameter, PayloadTooLarge
from kernel.api.operations import operation, uncharged
from kernel.api.requests import ApiRequest
from kernel.api.responses import Response
from kernel.api.viewsets import ApiViewSet
from kernel.writes.rate_limits import RateLimitUsage
from messaging import exceptions
from messaging.cache_tags import message_tag, page_tag
from messaging.content_rules import Draft, content_rule_errors
from messaging.page_ids import is_page_id
from messaging.queries import messages
from messaging.queries.message_orders import Sort
from messaging.queries.targets import fetch_targets, prefetch_targets
from messaging.serializers.deleted import DeletedSerializer
from messaging.serializers.messages import (
    IDENTITY,
    DryRunSerializer,
    MessageListSerializer,
    MessageQuery,
    MessageSerializer,
    MessagesQuery,
    MessageText,
    NewMessage,
    NewMessageQuery,
)
from messaging.services.deleting import delete_message
from messaging.services.editing import edit_message, lock_for_edit
from messaging.services.messages import create_message
from messaging.services.moving import PageMoved
from messaging.shown import embed_errors, shown_by, shown_tags
from messaging.views.message_links import LINKS_OF_NEW
from messaging.views.message_lists import listed
from messaging.views.message_rights import (
    WRITING_SCOPES,
    authorize,
    authorize_deletion_replay,
    authorize_edit_replay,
    authorize_replay,
    scopes_of_body,
)

WRITERS = {CredentialKind.AGENT, CredentialKind.PERSON}
WRITING_ERRORS = (
    AgentCommunityNotAllowed,
    ContentTooLong,
    PayloadTooLarge,
    exceptions.BannedFromCommunity,
    exceptions.CommunityForbids,
    exceptions.ContentBlocked,
    exceptions.EmptyMessage,
    exceptions.InvalidPayload,
)
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
            raise InvalidParameter(exceptions.page_id_needed(query["page_id"]), field="pageId")
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
        for_panel=True,
        callers=WRITERS,
        scopes=WRITING_SCOPES,
        scopes_of_body=scopes_of_body,
        authorize=authorize,
        authorize_replay=authorize_replay,
        prefetch=prefetch_targets,
        body=NewMessage,
        response=MessageSerializer,
        status=201,
        headers=("x-service-embed-id",),
        response_headers=("Location",),
        links=LINKS_OF_NEW,
        query=NewMessageQuery,
        has_dry_run=True,
        also={200: OpenApiResponse(DryRunSerializer, description="With `dryRun=true`: nothing was written.")},
        errors=(
            *WRITING_ERRORS,
            exceptions.CommunityMismatch,
            exceptions.CommunityNotFound,
            exceptions.DiscussionClosed,
            exceptions.ParentNotFound,
            exceptions.QuoteNotFound,
            exceptions.UnknownPage,
            *content_rule_errors(),
        ),
    )
    def create(self, request: ApiRequest) -> Response:
        """Create a post, a reply (`parentId`) or a quote (`quoteId`).

        Send `communityId` (of `communities` in normalizeUrl): most widgets show only posts of their community.
        """
        # Refuses values of `dryRun` that the middleware did not take for a dry run.
        self.query()
        draft = Draft(
            self.body(),
            author_kind=request.user.kind,
            embed_id=request.META.get("HTTP_X_SERVICE_EMBED_ID"),
            origin=request.META.get("HTTP_ORIGIN"),
        )
        targets = fetch_targets(request.transaction, request.data)
        message = create_message(auth=request.auth, transaction=request.transaction, targets=targets, draft=draft)
        if request.transaction.is_dry_run:
            return Response(_would_be(message, request.transaction.charge.available))
        return Response(message, status=201, headers={"Location": f"/api/messages/{message['id']}"})

    @operation(
        "getMessage",
        callers={CredentialKind.PUBLIC},
        query=MessageQuery,
        response=MessageSerializer,
        errors=(exceptions.MessageNotFound, *embed_errors()),
    )
    def retrieve(self, request: ApiRequest, id: str) -> Response:
        """Get a published post, or the tombstone of a deleted one that was answered."""
        message_id = self.path_id(exceptions.MessageNotFound)
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
            exceptions.EditWindowClosed,
            exceptions.MessageNotFound,
            exceptions.NotAuthor,
            exceptions.TooManyEdits,
        ),
    )
    def update(self, request: ApiRequest, id: str) -> Response:
        """Edit your own post, for some minutes after it was written.

        Where posts wait for approval, it waits again (`pending`). An edit spends no limit.
        """
        post = lock_for_edit(auth=request.auth, message_id=self.path_id(exceptions.MessageNotFound))
        edit_message(post=post, changes=self.body(), transaction=request.transaction)
        return Response(messages.stored_message(post.pk))

    @operation(
        "deleteMessage",
        for_panel=True,
        **OF_AUTHOR,
        authorize_replay=authorize_deletion_replay,
        response=DeletedSerializer,
        errors=(AgentCommunityNotAllowed, exceptions.MessageNotFound, exceptions.NotAuthor),
    )
    def destroy(self, request: ApiRequest, id: str) -> Response:
        """Delete your own post. If it was answered, a tombstone stays."""
        message_id = self.path_id(exceptions.MessageNotFound)
        delete_message(auth=request.auth, message_id=message_id, transaction=request.transaction)
        return Response({"id": message_id, "deleted": True})


def _would_be(message: dict[str, Any], limits: Sequence[RateLimitUsage]) -> dict[str, Any]:
    return {
        "wouldBe": message["status"],
        "message": {name: value for name, value in message.items() if name not in IDENTITY},
        "limits": [{"counter": usage.name, "limit": usage.limit, "remaining": usage.remaining} for usage in limits],
    }


def _visible(message_id: UUID, embed_id: UUID | None) -> dict[str, Any]:
    message = messages.visible_message(message_id, shown_by(embed_id))
    if message is None:
        raise exceptions.MessageNotFound
    return message
