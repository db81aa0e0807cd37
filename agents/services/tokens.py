"""Tokens of an approved agent: made once, shown once, revoked for good."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from agents import tokens
from agents.exceptions import AgentFrozen, RequestNotApproved, RequestNotFound, TokenNotFound, TooManyActiveTokens
from agents.models import Agent, AgentRequest, AgentToken
from agents.models.token import ACTIVE_MAX, DAYS_DEFAULT, AgentTokenQuerySet
from config.admin.audit import log_decision
from config.database.sql import database_now
from messaging.models import Account


@transaction.atomic
def create_token(
    *, request_id: UUID, by: Account, label: str = "", expires_in_days: int = DAYS_DEFAULT
) -> tuple[AgentToken, str]:
    """(the row, the token itself) for the requester of an approved request. The token is kept nowhere."""
    agent = _lock_agent_of(request_id, requester=by)
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


@transaction.atomic
def revoke_token(*, token_id: UUID, by: Account, reason: str = "") -> tuple[AgentToken, bool]:
    """(the token, whether this call revoked it), by its agent's operator or a super admin; others find none (404)."""
    token = AgentToken.objects.revocable_by(by).locked().filter(pk=token_id).first()
    if token is None:
        raise TokenNotFound
    if token.revoked_at is not None:
        return token, False
    _revoke([token], by=by, reason=reason)
    return token, True


def require_revocable(*, token_id: UUID, by: Account) -> None:
    """Raises TokenNotFound (404), as `revoke_token` does."""
    if not AgentToken.objects.revocable_by(by).filter(pk=token_id).exists():
        raise TokenNotFound


@transaction.atomic
def revoke_tokens(*, among: AgentTokenQuerySet, by: Account, reason: str) -> list[AgentToken]:
    """Revoke the active tokens of a set; those it revoked. Whoever calls it has made sure of the right to."""
    held = list(among.active().locked().order_by("id"))
    _revoke(held, by=by, reason=reason)
    return held


@transaction.atomic
def revoke_agent_tokens(*, agent: Agent, by: Account, reason: str) -> list[AgentToken]:
    """The same for all tokens of one agent; one that is being made meanwhile is among them or comes after."""
    Agent.objects.locked().get(pk=agent.pk)
    return revoke_tokens(among=AgentToken.objects.filter(agent=agent), by=by, reason=reason)


def _lock_agent_of(request_id: UUID, *, requester: Account) -> Agent:
    request = AgentRequest.objects.asked_by(requester).filter(pk=request_id).first()
    if request is None:
        raise RequestNotFound
    if request.agent_id is None:
        raise RequestNotApproved(status=request.status)
    # The lock in a statement of its own, so that the count after it sees what it waited for.
    agent = Agent.objects.locked().select_related("account", "operator").get(pk=request.agent_id)
    if agent.is_stopped:
        raise AgentFrozen
    return agent


def _revoke(held: list[AgentToken], *, by: Account, reason: str) -> None:
    now = timezone.now()
    for token in held:
        token.revoked_at, token.revoked_by, token.revoke_reason = now, by, reason
        token.save(update_fields=["revoked_at", "revoked_by", "revoke_reason"])
        log_decision(by=by, about=token, verb="Revoked", reason=reason)
