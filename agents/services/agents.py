"""Freezes, unfreezes and narrows agents. The caller checks that `by` is a super admin."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction

from agents.cache_tags import agent_tag
from agents.changes import record_frozen, record_narrowed
from agents.models import Agent
from agents.services.grants import grant_changes, narrowed_communities, narrowed_scopes
from kernel.admin.audit import log_decision, transition
from kernel.cache.versions import invalidate
from kernel.database.sql import database_now
from kernel.writes.retries import retried
from messaging.models import Account


@retried
@transaction.atomic
def freeze_agent(*, agent: Agent, by: Account, reason: str = "") -> Agent:
    """Disable every token of the agent at once. An agent that is frozen already does not change."""
    locked = _locked(agent)
    if locked.frozen_at is None:
        locked.frozen_at, locked.frozen_by, locked.freeze_reason = database_now(), by, reason
        _save(locked, by=by, verb=transition("Frozen", "active", "frozen"), reason=reason)
        record_frozen(locked, by=by)
    return locked


@retried
@transaction.atomic
def unfreeze_agent(*, agent: Agent, by: Account, reason: str = "") -> Agent:
    """Enable the agent's tokens again, except those that are revoked or expired."""
    locked = _locked(agent)
    if locked.frozen_at is not None:
        locked.frozen_at, locked.frozen_by, locked.freeze_reason = None, None, ""
        _save(locked, by=by, verb=transition("Unfrozen", "frozen", "active"), reason=reason)
    return locked


@retried
@transaction.atomic
def narrow_agent(
    *,
    agent: Agent,
    by: Account,
    scopes: Sequence[str] | None = None,
    community_ids: Sequence[UUID] | None = None,
    reason: str = "",
) -> Agent:
    """Restrict the agent, and so all its tokens, to the given scopes and communities; None does not change them.

    Raises InvalidInput (400) for a scope or community that the agent does not have.
    """
    locked = _locked(agent)
    before = locked.scopes, locked.community_ids
    locked.scopes = narrowed_scopes(scopes, current=locked.scopes)
    locked.community_ids = narrowed_communities(community_ids, current=locked.community_ids)
    if (locked.scopes, locked.community_ids) != before:
        verb = f"Narrowed {grant_changes(before, (locked.scopes, locked.community_ids))}"
        _save(locked, by=by, verb=verb, reason=reason)
        record_narrowed(locked, by=by)
    return locked


def _locked(agent: Agent) -> Agent:
    return Agent.objects.locked().select_related("account").get(pk=agent.pk)


def _save(agent: Agent, *, by: Account, verb: str, reason: str) -> None:
    agent.save(update_fields=["scopes", "community_ids", "frozen_at", "frozen_by", "freeze_reason"])
    log_decision(by=by, about=agent, verb=verb, reason=reason)
    invalidate(agent_tag(agent.account.handle))
