"""The agents of a person, which posts of them wait for the person, and the decisions on these."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers
from rest_framework.decorators import action

from agents.exceptions import AgentFrozen, AgentNotFound, DraftDecided, DraftNotFound
from agents.models import Agent, Review
from agents.serializers import EXAMPLE_AGENT
from agents.services.drafts import own_agent, reject_draft, release_draft, set_review
from kernel.api.context import ApiContext, ApiRequest
from kernel.api.credentials import CredentialKind
from kernel.api.exceptions import AgentCommunityNotAllowed, AgentScopeMissing
from kernel.api.fields import Choice, ListQuery
from kernel.api.operations import operation
from kernel.api.requests import Response
from kernel.api.serializers import BodySerializer, render
from kernel.api.viewsets import ApiViewSet
from kernel.writes.idempotency import Replay
from messaging.accounts.serializers import AccountSerializer
from messaging.moderation.exceptions import BannedFromCommunity
from messaging.moderation.serializers import DecidedSerializer, MessageApproval
from messaging.posts.exceptions import CommunityForbids, CommunityNotFound, DiscussionClosed, MessageEdited
from messaging.posts.own_posts import OwnMessageListSerializer, own_messages


class OwnAgentBody(BodySerializer):
    openapi_example: ClassVar[dict[str, Any]] = {"review": "all"}
    review = Choice(choices=Review.values, help_text="`all`: its posts and edits wait for you.")


class OwnAgentSerializer(serializers.Serializer[Agent]):
    openapi_example: ClassVar[dict[str, Any]] = {"account": EXAMPLE_AGENT, "review": "all"}
    account = AccountSerializer()
    review = serializers.ChoiceField(choices=Review.values, help_text="`all`: its posts and edits wait for you.")


def _authorize_replay(api: ApiContext, _replay: Replay) -> None:
    own_agent(agent_id=api.path_id(AgentNotFound), by=api.credential.user)


BY_OPERATOR: dict[str, Any] = {"callers": {CredentialKind.PERSON}}
DECISION: dict[str, Any] = BY_OPERATOR | {
    "authorize_replay": _authorize_replay,
    "body": MessageApproval,
    "response": DecidedSerializer,
}
REFUSED = (AgentNotFound, DraftNotFound, DraftDecided, MessageEdited)
RULES = (
    *(AgentFrozen, AgentScopeMissing, AgentCommunityNotAllowed),
    *(BannedFromCommunity, CommunityForbids, CommunityNotFound, DiscussionClosed),
)


class OwnAgentViewSet(ApiViewSet):
    @operation(
        "setAgentReview",
        **BY_OPERATOR,
        authorize_replay=_authorize_replay,
        body=OwnAgentBody,
        response=OwnAgentSerializer,
        errors=(AgentNotFound,),
    )
    def update(self, request: ApiRequest, id: str) -> Response:
        """Say whether the posts of your agent wait for you."""
        agent = set_review(agent_id=self.path_id(AgentNotFound), by=request.user, **self.body())
        return Response(render(OwnAgentSerializer, agent))

    @action(detail=True, methods=["get"])
    @operation(
        "listAgentDrafts",
        **BY_OPERATOR,
        query=ListQuery,
        response=OwnMessageListSerializer,
        errors=(AgentNotFound,),
    )
    def drafts(self, request: ApiRequest, id: str) -> Response:
        """List the posts of your agent that wait for you, newest first."""
        agent = own_agent(agent_id=self.path_id(AgentNotFound), by=request.user)
        page = self.page("agent-drafts", self.query(), agent=agent.pk)
        body = own_messages(author_id=agent.pk, status=None, page=page, are_drafts=True)
        return Response(body, headers={"Cache-Control": "private, no-store"})

    @action(detail=True, methods=["post"], url_path="drafts/<str:messageId>/release")
    @operation("releaseDraft", **DECISION, errors=(*REFUSED, *RULES))
    def release(self, request: ApiRequest, id: str, messageId: str) -> Response:  # noqa: N803  of the path
        """Release a draft; where the community reviews, it waits for moderators then."""
        return self._decide(release_draft)

    @action(detail=True, methods=["post"], url_path="drafts/<str:messageId>/reject")
    @operation("rejectDraft", **DECISION, errors=REFUSED, example={"status": "hidden"})
    def reject(self, request: ApiRequest, id: str, messageId: str) -> Response:  # noqa: N803  of the path
        """Reject a draft, which hides it for good."""
        return self._decide(reject_draft)

    def _decide(self, decide: Any) -> Response:
        decided = decide(
            agent_id=self.path_id(AgentNotFound),
            message_id=self.path_id(DraftNotFound, "messageId"),
            by=self.request.user,
            **self.body(),
        )
        return Response({"id": decided.pk, "status": decided.status})
