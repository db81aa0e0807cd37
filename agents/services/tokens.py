"""Creates and revokes the tokens of agents.

Replaces a token of an agent by a new one; the former one ends at once or later.

Announces agent tokens that expire soon, once each.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from math import ceil
from typing import Any
from uuid import UUID

from django.db import models, transaction
from django.db.models.functions import Now

from agents import tokens
from agents.changes import record_expiring
from agents.exceptions import (
    AgentFrozen,
    RequestNotApproved,
    RequestNotFound,
    TokenNotActive,
    TokenNotFound,
    TooManyActiveTokens,
)
from agents.models import (
    ACTIVE_MAX,
    DAYS_DEFAULT,
    DAYS_MAX,
    Agent,
    AgentRequest,
    AgentToken,
    AgentTokenQuerySet,
    RequestStatus,
    TokenStatus,
)
from kernel.admin.audit import log_decision, transition
from kernel.database.sql import database_now
from kernel.writes.transaction import retried
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
    if agent.tokens.active().created_by_people().count() >= ACTIVE_MAX:
        raise TooManyActiveTokens(max=ACTIVE_MAX)
    return issue_token(agent, by=by, label=label, lifetime=timedelta(days=expires_in_days))


def issue_token(agent: Agent, *, by: Account, label: str, lifetime: timedelta, **fields: Any) -> tuple[AgentToken, str]:
    """Create a token of an agent that the caller has locked, without counting those that it has."""
    value, now = tokens.mint(), database_now()
    row = AgentToken.objects.create(
        agent=agent,
        digest=tokens.digest(value),
        prefix=tokens.prefix(value),
        label=label,
        created_by=by,
        created_at=now,
        expires_at=now + lifetime,
        **fields,
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
    agent_id = request.agent_id or request.widens_id
    if request.status != RequestStatus.APPROVED or agent_id is None:
        raise RequestNotApproved(status=request.status)
    try:
        return active_agent(agent_id)
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


class OldEnds(models.TextChoices):
    """When the former token of a rotation ends."""

    NOW = "now"
    HOUR = "hour"
    DAY = "day"
    WEEK = "week"


DELAYS = {
    OldEnds.NOW: timedelta(0),
    OldEnds.HOUR: timedelta(hours=1),
    OldEnds.DAY: timedelta(days=1),
    OldEnds.WEEK: timedelta(weeks=1),
}


@retried
@transaction.atomic
def rotate_token(
    *, token_id: UUID, by: Account, old_ends_in: str = OldEnds.NOW, expires_in_days: int | None = None
) -> tuple[AgentToken, str, AgentToken]:
    """Create a token with the label of a former one, which ends; returns the new row, its value and the former row.

    Without `expires_in_days`, the new token is valid as long as the former one was or, if that was rotated before, as
    long as its successor. A former token that still works is an active one of the five: at the limit only
    OldEnds.NOW is possible. A token may be rotated again while it works, which can only shorten the rest of its time.

    Raises TokenNotFound (404) unless `by` operates the agent, and for a token that a program renews; TokenNotActive,
    AgentFrozen or TooManyActiveTokens (409).
    """
    own = AgentToken.objects.operated_by(by).created_by_people().filter(pk=token_id)
    agent_id = own.values_list("agent", flat=True).first()
    if agent_id is None:
        raise TokenNotFound
    # The agent first, as in `create_token`: the lock orders concurrent calls, and the count sees their tokens.
    agent = active_agent(agent_id)
    former, now = AgentToken.objects.select_related("agent").locked().get(pk=token_id), database_now()
    if former.revoked_at is not None or former.expires_at <= now:
        raise TokenNotActive(status=former.status)
    days = expires_in_days or _days(former)
    if old_ends_in == OldEnds.NOW:
        end_tokens([former], by=by, reason="Rotated.")
    row, value = add_token(agent, by=by, label=former.label, expires_in_days=days)
    if old_ends_in != OldEnds.NOW:
        _end_later(former, successor=row, at=now + DELAYS[OldEnds(old_ends_in)], days=days, by=by)
    return row, value, former


def _end_later(token: AgentToken, *, successor: AgentToken, at: datetime, days: int, by: Account) -> None:
    """Its operator has chosen the time: no event announces it."""
    token.expires_at = min(token.expires_at, at)
    token.expiry_announced_at = successor.created_at
    token.days_of_successor = days
    token.save(update_fields=["expires_at", "expiry_announced_at", "days_of_successor"])
    log_decision(by=by, about=token, verb="Rotated")


def _days(token: AgentToken) -> int:
    if token.days_of_successor is not None:
        return token.days_of_successor
    return min(DAYS_MAX, max(1, ceil((token.expires_at - token.created_at) / timedelta(days=1))))


ANNOUNCED_DAYS = 7
BATCH = 500


def announce_expiring_tokens() -> int:
    """Announce the active tokens that expire within ANNOUNCED_DAYS; returns their number. Safe to run concurrently."""
    total = 0
    while announced := _announce_batch():
        total += announced
    return total


@retried
@transaction.atomic
def _announce_batch() -> int:
    """Token and event change in one transaction. A token that another transaction has locked is left to the next run.

    After the lock, PostgreSQL checks again that the token is not announced.
    """
    before = database_now() + timedelta(days=ANNOUNCED_DAYS)
    due = AgentToken.objects.active().filter(expiry_announced_at=None, expires_at__lte=before)
    locked = due.select_for_update(of=("self",), no_key=True, skip_locked=True).select_related("agent")
    tokens = list(locked.defer("digest").order_by("id")[:BATCH])
    AgentToken.objects.filter(pk__in=[token.pk for token in tokens]).update(expiry_announced_at=Now())
    record_expiring(tokens)
    return len(tokens)
