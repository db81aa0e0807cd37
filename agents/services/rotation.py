"""Replaces a token of an agent by a new one; the former one ends at once or later."""

from __future__ import annotations

from datetime import datetime, timedelta
from math import ceil
from uuid import UUID

from django.db import models, transaction

from agents.exceptions import TokenNotActive, TokenNotFound
from agents.models import AgentToken
from agents.models.token import DAYS_MAX
from agents.services.tokens import active_agent, add_token, end_tokens
from kernel.admin.audit import log_decision
from kernel.database.sql import database_now
from kernel.writes.retries import retried
from messaging.models import Account


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

    Raises TokenNotFound (404) unless `by` operates the agent; TokenNotActive, AgentFrozen or TooManyActiveTokens (409).
    """
    agent_id = AgentToken.objects.operated_by(by).filter(pk=token_id).values_list("agent", flat=True).first()
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
