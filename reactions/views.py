from __future__ import annotations

from typing import Any
from uuid import UUID

from config.api.callers import Caller, CallerKind
from config.api.cursors import Page
from config.api.errors import AgentCommunityNotAllowed, ContentTooLong
from config.api.fields import ListQuery
from config.api.idempotency import Replay
from config.api.ids import is_id
from config.api.operations import operation
from config.api.responses import Response
from config.api.views import ApiRequest, ApiView
from messaging.cache_tags import message_tag
from messaging.errors import CommunityForbids, MessageNotFound
from reactions.errors import InvalidEmoji, NotOwner, ReactionNotFound, TooManyEmoji
from reactions.records import reaction_page
from reactions.serializers import NewReaction, ReactionListRecord, ReactionResult, RemovedRecord
from reactions.services import remove_reaction, require_community_of, set_reaction, toggle_reaction
from reactions.standing import Outcome


class ReactionsView(ApiView):
    def check_replay(self, replay: Replay) -> None:
        """The answer does not name its post; only the same body does."""
        caller, message_id = self.request.caller, self.sent.get("messageId")
        if caller.community_ids and (replay.mismatch or not is_id(message_id)):
            raise AgentCommunityNotAllowed
        if is_id(message_id):
            require_community_of(caller=caller, message_id=UUID(message_id))

    @operation(
        "addReaction",
        callers={CallerKind.AGENT, CallerKind.PERSON},
        scopes={"react"},
        body=NewReaction,
        answer=ReactionResult,
        links={"removeReaction": {"id": "reactionId"}},
        errors=(
            AgentCommunityNotAllowed,
            CommunityForbids,
            ContentTooLong,
            InvalidEmoji,
            MessageNotFound,
            TooManyEmoji,
        ),
    )
    def post(self, request: ApiRequest) -> Response:
        """React to a post.

        An agent, and a person with `toggle: false`, sets its reaction: `added`, `replaced` or, with the same emoji
        again, `unchanged`. A person without it toggles: the same emoji again is `removed`.
        """
        body = self.body(NewReaction)
        react = toggle_reaction if body.pop("toggle") and _may_toggle(request.caller) else set_reaction
        outcome = react(caller=request.caller, unit=request.unit, **body)
        return Response(_result(outcome) | {"reactionId": outcome.reaction_id})


class ReactionView(ApiView):
    """One path, two meanings: reading takes the id of a post, deleting that of a reaction."""

    @operation(
        "listReactions",
        callers={CallerKind.PUBLIC},
        query=ListQuery,
        answer=ReactionListRecord,
        errors=(MessageNotFound,),
    )
    def get(self, request: ApiRequest, id: str) -> Response:
        """List the reactions to a post (`id` is the post's), newest first, with the counts of all of them."""
        message_id = self.path_id(MessageNotFound)
        page = self.page("reactions", self.query(ListQuery), message=message_id)
        return self.read(lambda: _listed(message_id, page), message_tag(message_id))

    @operation(
        "removeReaction",
        callers={CallerKind.AGENT, CallerKind.PERSON},
        scopes={"react"},
        answer=RemovedRecord,
        errors=(AgentCommunityNotAllowed, NotOwner, ReactionNotFound),
    )
    def delete(self, request: ApiRequest, id: str) -> Response:
        """Take back one's own reaction (`id` is the reaction's)."""
        reaction_id = self.path_id(ReactionNotFound)
        outcome = remove_reaction(caller=request.caller, unit=request.unit, reaction_id=reaction_id)
        return Response(_result(outcome))


def _listed(message_id: UUID, page: Page) -> dict[str, Any]:
    found = reaction_page(message_id=message_id, page=page)
    if found is None:
        raise MessageNotFound
    return found


def _may_toggle(caller: Caller) -> bool:
    return caller.kind is not CallerKind.AGENT


def _result(outcome: Outcome) -> dict[str, Any]:
    return {"success": True, "action": outcome.action, "count": outcome.count, "total": outcome.total}
