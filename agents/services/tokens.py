"""Creates and revokes the tokens of agents."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.db import transaction

from agents import tokens
from agents.exceptions import AgentFrozen, RequestNotApproved, RequestNotFound, TokenNotFound, TooManyActiveTokens
from agents.models import Agent, AgentRequest, AgentToken, RequestStatus, TokenStatus
from agents.models.token import ACTIVE_MAX, DAYS_DEFAULT, AgentTokenQuerySet
from kernel.admin.audit import log_decision, transition
from kernel.database.sql import database_now
from kernel.writes.retries import retried
from messaging.models import Account


@retried
@transaction.atomic
def create_token(
    *, request_id: UUID, by: Account, label: str = "", expires_in_days: int = DAYS_DEFAULT
) -> tuple[AgentToken, str]:
    """Create a token for the requester of an approved request; returns the row and the token's value.

    The row stores only a digest. Raises RequestNotFound (404); RequestNotApproved, AgentFrozen or TooManyActiveTokens
    (409).
    """
    return add_token(_lock_agent_of(request_id, requester=by), by=by, label=label, expires_in_days=expires_in_days)


def add_token(agent: Agent, *, by: Account, label: str, expires_in_days: int) -> tuple[AgentToken, str]:
    """Create a token of an agent that the caller has locked. Raises TooManyActiveTokens (409)."""
    if agent.tokens.active().count() >= ACTIVE_MAX:
        raise TooManyActiveTokens(max=ACTIVE_MAX)
    value, now = tokens.mint(), database_now()
    row = AgentToken.objects.create(
        agent=agent,
        digest=tokens.digest(value),
        prefix=tokens.prefix(value),
        label=label,
        created_by=by,
        created_at=now,
        expires_at=now + timedelta(days=expires_in_days),
    )
    return row, value


@retried
@transaction.atomic
def revoke_token(*, token_id: UUID, by: Account, reason: str = "") -> tuple[AgentToken, bool]:
    """Revoke a token; returns the token and whether this call revoked it.

    Raises TokenNotFound (404) unless `by` is the agent's operator or a super admin.
    """
    token = AgentToken.objects.revocable_by(by).locked().filter(pk=token_id).first()
    if token is None:
        raise TokenNotFound
    if token.revoked_at is not None:
        return token, False
    end_tokens([token], by=by, reason=reason)
    return token, True


def require_revocable(*, token_id: UUID, by: Account) -> None:
    """Raises TokenNotFound (404) as `revoke_token` does."""
    if not AgentToken.objects.revocable_by(by).filter(pk=token_id).exists():
        raise TokenNotFound


@retried
@transaction.atomic
def revoke_tokens(*, tokens: AgentTokenQuerySet, by: Account, reason: str) -> list[AgentToken]:
    """Revoke the active tokens of a queryset and return them. The caller checks the permission of `by`."""
    active = list(tokens.active().locked().order_by("id"))
    end_tokens(active, by=by, reason=reason)
    return active


@retried
@transaction.atomic
def revoke_agent_tokens(*, agent: Agent, by: Account, reason: str) -> list[AgentToken]:
    """Revoke the active tokens of an agent. The lock orders this call before or after a concurrent `create_token`."""
    Agent.objects.locked().get(pk=agent.pk)
    return revoke_tokens(tokens=AgentToken.objects.filter(agent=agent), by=by, reason=reason)


def _lock_agent_of(request_id: UUID, *, requester: Account) -> Agent:
    request = AgentRequest.objects.asked_by(requester).filter(pk=request_id).first()
    if request is None:
        raise RequestNotFound
    if request.agent_id is None:
        raise RequestNotApproved(status=request.status)
    try:
        return active_agent(request.agent_id)
    except Agent.DoesNotExist:
        # The approval was undone meanwhile.
        raise RequestNotApproved(status=RequestStatus.PENDING) from None


def active_agent(agent_id: UUID) -> Agent:
    """The agent, locked; raises AgentFrozen (409)."""
    # Lock, then read in a second statement: the first would see the accounts of before the wait for the lock.
    Agent.objects.locked().get(pk=agent_id)
    agent = Agent.objects.select_related("account", "operator").get(pk=agent_id)
    if agent.is_stopped:
        raise AgentFrozen
    return agent


def end_tokens(rows: list[AgentToken], *, by: Account, reason: str) -> None:
    """Revoke tokens that the caller has locked."""
    now = database_now()
    for row in rows:
        before = TokenStatus.ACTIVE if row.expires_at > now else TokenStatus.EXPIRED
        row.revoked_at, row.revoked_by, row.revoke_reason = now, by, reason
        row.save(update_fields=["revoked_at", "revoked_by", "revoke_reason"])
        log_decision(by=by, about=row, verb=transition("Revoked", before, TokenStatus.REVOKED), reason=reason)
