"""What becomes of an agent after its approval. Whoever calls these has made sure of a super admin."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from agents.models import Agent
from agents.services.grants import narrowed_communities, narrowed_scopes
from config.admin.audit import log_decision
from messaging.models import Account


@transaction.atomic
def freeze_agent(*, agent: Agent, by: Account, reason: str = "") -> Agent:
    """Stop every token of the agent at once. A frozen agent stays as it was frozen first."""
    held = _locked(agent)
    if held.frozen_at is None:
        held.frozen_at, held.frozen_by, held.freeze_reason = timezone.now(), by, reason
        _save(held, by=by, done="Frozen", reason=reason)
    return held


@transaction.atomic
def unfreeze_agent(*, agent: Agent, by: Account, reason: str = "") -> Agent:
    """Let the tokens that were neither revoked nor expired meanwhile work again."""
    held = _locked(agent)
    if held.frozen_at is not None:
        held.frozen_at, held.frozen_by, held.freeze_reason = None, None, ""
        _save(held, by=by, done="Unfrozen", reason=reason)
    return held


@transaction.atomic
def narrow_agent(
    *,
    agent: Agent,
    by: Account,
    scopes: Sequence[str] | None = None,
    community_ids: Sequence[UUID] | None = None,
    reason: str = "",
) -> Agent:
    """Take scopes or communities away, from all its tokens at once; None leaves as is. Raises InvalidInput (400)."""
    held = _locked(agent)
    before = held.scopes, held.community_ids
    held.scopes = narrowed_scopes(scopes, held=held.scopes)
    held.community_ids = narrowed_communities(community_ids, held=held.community_ids)
    if (held.scopes, held.community_ids) != before:
        communities = ", ".join(map(str, held.community_ids)) or "all"
        done = f"Narrowed to scopes {', '.join(held.scopes)}; communities {communities}"
        _save(held, by=by, done=done, reason=reason)
    return held


def _locked(agent: Agent) -> Agent:
    return Agent.objects.locked().select_related("account").get(pk=agent.pk)


def _save(agent: Agent, *, by: Account, done: str, reason: str) -> None:
    agent.save(update_fields=["scopes", "community_ids", "frozen_at", "frozen_by", "freeze_reason"])
    log_decision(by=by, about=agent, verb=done, reason=reason)
