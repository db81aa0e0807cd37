from __future__ import annotations

from typing import Any
from uuid import UUID

from kernel.api.context import ApiContext, ApiRequest
from kernel.api.credentials import CredentialKind
from kernel.api.exceptions import AgentCommunityNotAllowed, ContentTooLong, InvalidParameter, NotOwner, OtherCommunity
from kernel.api.fields import ListQuery
from kernel.api.ids import is_id
from kernel.api.operations import operation
from kernel.api.pagination import CursorPage
from kernel.api.requests import Response
from kernel.api.serializers import render
from kernel.api.viewsets import ApiViewSet
from kernel.writes.idempotency import Replay
from messaging.cache_tags import message_tag
from messaging.communities.bans import refuse_banned
from messaging.models import Message
from messaging.moderation.exceptions import BannedFromCommunity
from messaging.pages.moving import moved_to
from messaging.pages.page_ids import is_page_id
from messaging.posts.exceptions import CommunityForbids, ContentBlocked, MessageNotFound, page_id_needed
from reactions.exceptions import InvalidEmoji, ReactionNotFound, TooManyEmoji
from reactions.models import Outcome
from reactions.queries import own_reactions, reaction_page
from reactions.serializers import (
    NewReaction,
    OwnReactionsQuery,
    OwnReactionsSerializer,
    ReactionListSerializer,
    ReactionResult,
    RemovedSerializer,
)
from reactions.services import remove_reaction, require_community_of, set_reaction, toggle_reaction

PRIVATE = {"Cache-Control": "private, no-store"}


class OwnReactionViewSet(ApiViewSet):
    """The reactions of the account that calls."""

    @operation(
        "listOwnReactions",
        for_panel=True,
        callers={CredentialKind.AGENT, CredentialKind.PERSON},
        query=OwnReactionsQuery,
        response=OwnReactionsSerializer,
    )
    def list(self, request: ApiRequest) -> Response:
        """List your newest 1,000 reactions to the posts of a page."""
        page_id = self.query()["page_id"]
        if not is_page_id(page_id):
            raise InvalidParameter(page_id_needed(page_id), field="pageId")
        found = own_reactions(account_id=request.user.pk, page_id=page_id)
        if not found and (new_id := moved_to(page_id)) is not None:
            found = own_reactions(account_id=request.user.pk, page_id=new_id)
        return Response(render(OwnReactionsSerializer, {"reactions": found}), headers=PRIVATE)


AUTHORS = {CredentialKind.AGENT, CredentialKind.PERSON}


def authorize_replay(api: ApiContext, replay: Replay) -> None:
    """Check the post's community and its bans. Only the body of the request has the id of the post."""
    auth, message_id = api.credential, api.fields.get("messageId")
    if auth.community_ids and (replay.mismatch or not is_id(message_id)):
        raise auth.refusal_of_community()
    if is_id(message_id):
        require_community_of(auth=auth, message_id=UUID(message_id))
        refuse_banned(communities=Message.objects.filter(pk=UUID(message_id)).values("community_id"), auth=auth)


class ReactionViewSet(ApiViewSet):
    """The id in the path is the post's for GET and the reaction's for DELETE."""

    @operation(
        "addReaction",
        for_panel=True,
        callers=AUTHORS,
        scopes={"react"},
        authorize_replay=authorize_replay,
        body=NewReaction,
        response=ReactionResult,
        links={"removeReaction": {"id": "reactionId"}},
        errors=(
            AgentCommunityNotAllowed,
            BannedFromCommunity,
            CommunityForbids,
            ContentBlocked,
            ContentTooLong,
            InvalidEmoji,
            MessageNotFound,
            OtherCommunity,
            TooManyEmoji,
        ),
    )
    def create(self, request: ApiRequest) -> Response:
        """React to a post.

        The same emoji again removes the reaction of a person, unless `toggle` is false.
        """
        body = self.body()
        react = toggle_reaction if body.pop("toggle") and not request.auth.is_agent else set_reaction
        outcome = react(auth=request.auth, transaction=request.transaction, **body)
        return Response(_result(outcome) | {"reactionId": outcome.reaction_id})

    @operation(
        "listReactions",
        callers={CredentialKind.PUBLIC},
        query=ListQuery,
        response=ReactionListSerializer,
        errors=(MessageNotFound,),
    )
    def retrieve(self, request: ApiRequest, id: str) -> Response:
        """List the reactions to a post (id is the post's), newest first."""
        message_id = self.path_id(MessageNotFound)
        page = self.page("reactions", self.query(), message=message_id)
        return self.read(lambda: _listed(message_id, page), message_tag(message_id))

    @operation(
        "removeReaction",
        for_panel=True,
        callers=AUTHORS,
        scopes={"react"},
        response=RemovedSerializer,
        example={"action": "removed", "count": 0, "total": 0},
        errors=(AgentCommunityNotAllowed, NotOwner, OtherCommunity, ReactionNotFound),
    )
    def destroy(self, request: ApiRequest, id: str) -> Response:
        """Remove your own reaction (`id` is the reaction's)."""
        reaction_id = self.path_id(ReactionNotFound)
        outcome = remove_reaction(auth=request.auth, transaction=request.transaction, reaction_id=reaction_id)
        return Response(_result(outcome))


def _listed(message_id: UUID, page: CursorPage) -> dict[str, Any]:
    body = reaction_page(message_id=message_id, page=page)
    if body is None:
        raise MessageNotFound
    return body


def _result(outcome: Outcome) -> dict[str, Any]:
    return {"success": True, "action": outcome.action, "count": outcome.count, "total": outcome.total}
