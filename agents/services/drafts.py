"""The review of an agent by its operator: what the agent writes waits until the operator releases it.

A draft is a pending post, and its `operator_review` is `waiting`. A release publishes it, or gives it to the moderators
where the community reviews what agents write; a rejection hides it. Moderators cannot decide on it before a release
(`messaging.moderation.services.locked_message`).
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db import transaction

from agents.exceptions import AgentFrozen, AgentNotFound, DraftDecided, DraftNotFound
from agents.models import Agent, Review
from kernel.admin.audit import log_decision, transition
from kernel.api.credentials import Credential, CredentialKind
from kernel.writes.transaction import retried
from messaging.changes.recording import record_released
from messaging.communities.bans import open_discussion
from messaging.models import Account, Message, MessageStatus, OperatorReview
from messaging.models.message import MessageQuerySet
from messaging.moderation.services import set_status
from messaging.posts.exceptions import CommunityNotFound, DiscussionClosed
from messaging.posts.rights import locked_post, require_rights, require_seen


@retried
@transaction.atomic
def set_review(*, agent_id: UUID, review: str, by: Account) -> Agent:
    """Say which posts of the agent wait for its operator. Those that wait already go on waiting.

    Raises AgentNotFound (404) unless `by` operates the agent.
    """
    agent = own_agent(agent_id=agent_id, by=by, lock=True)
    if agent.review != review:
        verb = transition("Review by its operator", agent.review, review)
        agent.review = Review(review)
        agent.save(update_fields=["review"])
        log_decision(by=by, about=agent, verb=verb)
    return agent


def own_agent(*, agent_id: UUID, by: Account, lock: bool = False) -> Agent:
    """Raises AgentNotFound (404) for a deleted agent, and for one of another operator."""
    own = Agent.objects.operated_by(by).filter(pk=agent_id)
    if lock:
        list(own.locked())
    agent = own.live().select_related("account", "operator").first()
    if agent is None:
        raise AgentNotFound
    return agent


def drafts_of(agent_id: UUID) -> MessageQuerySet:
    """The posts that wait for the operator of the agent, the newest first. `unpublished_of_author` has them."""
    waiting = Message.objects.filter(
        author=agent_id, status=MessageStatus.PENDING, operator_review=OperatorReview.WAITING
    )
    return waiting.select_related("page", "community", "author").order_by("-pk")


@retried
@transaction.atomic
def release_draft(
    *, agent_id: UUID, message_id: UUID, by: Account, reason: str = "", seen_at: datetime | None = None
) -> Message:
    """Publish a draft, or give it to the moderators of its community, with the rules of now for a new post.

    Raises AgentNotFound and DraftNotFound (404), DraftDecided, MessageEdited and AgentFrozen (409), and what
    createMessage raises for the rights of the agent and the rules of the community.
    """
    agent = own_agent(agent_id=agent_id, by=by)
    draft = _locked_draft(message_id, agent, seen_at)
    waits = _require_allowed(draft, agent) or draft.held_after_reports
    end = MessageStatus.PENDING if waits else MessageStatus.PUBLISHED
    _decide(draft, OperatorReview.RELEASED, end, by=by, reason=reason)
    if waits:
        record_released(draft)
    return draft


@retried
@transaction.atomic
def reject_draft(
    *, agent_id: UUID, message_id: UUID, by: Account, reason: str = "", seen_at: datetime | None = None
) -> Message:
    """Hide a draft for good; the agent reads the reason. Raises as `release_draft`, but for rights and rules."""
    draft = _locked_draft(message_id, own_agent(agent_id=agent_id, by=by), seen_at)
    _decide(draft, OperatorReview.REJECTED, MessageStatus.HIDDEN, by=by, reason=reason)
    return draft


def _locked_draft(message_id: UUID, agent: Agent, seen_at: datetime | None) -> Message:
    draft = locked_post(message_id, Message.objects.select_related("page"), missing=DraftNotFound)
    if draft.author_id != agent.pk or draft.operator_review is None or draft.status == MessageStatus.DELETED:
        raise DraftNotFound
    if draft.status != MessageStatus.PENDING or draft.operator_review != OperatorReview.WAITING:
        raise DraftDecided(status=draft.status)
    require_seen(draft, seen_at)
    return draft


def _require_allowed(draft: Message, agent: Agent) -> bool:
    """Whether moderators have to approve the post; raises if the agent might not write it now."""
    if agent.frozen_at is not None:
        raise AgentFrozen("Ask a super admin: the agent is stopped, and nothing of it is released meanwhile.")
    auth = Credential(
        kind=CredentialKind.AGENT,
        user=agent.account,
        scopes=frozenset(agent.scopes),
        community_ids=frozenset(agent.community_ids),
        operator_id=agent.operator_id,
    )
    require_rights(auth=auth, post=draft)
    if draft.community_id is None:
        return False
    discussion = open_discussion(
        community_id=draft.community_id,
        auth=auth,
        page_id=draft.page_id,
        page_url=draft.page.normalized_url,
        source_embed=draft.embed_id,
    )
    if discussion is None:
        raise CommunityNotFound
    discussion.community.require_allowed(author_kind=draft.author_kind, tag_type=draft.tag_type)
    if discussion.is_closed:
        raise DiscussionClosed
    return discussion.community.needs_approval(draft.author_kind)


def _decide(draft: Message, review: OperatorReview, end: MessageStatus, *, by: Account, reason: str) -> None:
    draft.operator_review = review
    draft.save(update_fields=["operator_review"])
    verb = transition(f"{review.label} by its operator", draft.status, end)
    set_status(draft, end, by=by, reason=reason, is_by_operator=True)
    log_decision(by=by, about=draft, verb=verb, reason=reason)
