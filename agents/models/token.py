from __future__ import annotations

from datetime import datetime

from django.db import models
from django.db.models import Case, F, Q, When
from django.db.models.functions import Now
from django.utils import timezone

from agents.models.agent import REASON_MAX, Agent
from agents.tokens import DIGEST_BYTES, PREFIX_LENGTH
from kernel.api.ids import new_id
from messaging.models import Account

LABEL_MAX = 80
ACTIVE_MAX = 5
DAYS_MAX = 365
DAYS_DEFAULT = 90


class TokenStatus(models.TextChoices):
    """Computed from the token's times and its agent, not stored. Suspended: valid, but its agent is stopped."""

    ACTIVE = "active"
    REVOKED = "revoked"
    EXPIRED = "expired"
    SUSPENDED = "suspended"


class AgentTokenQuerySet(models.QuerySet["AgentToken"]):
    def active(self) -> AgentTokenQuerySet:
        return self.filter(revoked_at=None, expires_at__gt=Now())

    def active_first(self) -> AgentTokenQuerySet:
        """The active ones, then those that have ended, each the newest first."""
        is_active = When(revoked_at=None, expires_at__gt=Now(), then=0)
        return self.order_by(Case(is_active, default=1), "-created_at", "-pk")

    def operated_by(self, account: Account) -> AgentTokenQuerySet:
        return self.filter(agent__operator=account)

    def revocable_by(self, account: Account) -> AgentTokenQuerySet:
        return self if account.is_superuser else self.operated_by(account)

    def with_accounts(self) -> AgentTokenQuerySet:
        """Load the accounts that the serializer reads in the same query, and defer the digest."""
        return self.select_related("agent__account", "agent__operator").defer("digest")

    def locked(self) -> AgentTokenQuerySet:
        return self.select_for_update(of=("self",), no_key=True)


class AgentToken(models.Model):
    """A credential of an agent. Only a keyed digest of it is stored; its scopes and communities are the agent's."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, db_index=False, related_name="tokens")
    digest = models.BinaryField(max_length=DIGEST_BYTES, unique=True)
    prefix = models.CharField(max_length=PREFIX_LENGTH)
    label = models.CharField(max_length=LABEL_MAX, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    created_by = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="+")
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True)
    # When the inboxes of the agent and its operator got the event that the token expires soon. Of a token that
    # a rotation ends later: when its operator chose that.
    expiry_announced_at = models.DateTimeField(null=True, editable=False)
    # Of a token that a rotation ends later, whose own days no longer say it: how long its successor is valid.
    days_of_successor = models.PositiveSmallIntegerField(null=True, editable=False)
    revoked_at = models.DateTimeField(null=True, blank=True)
    revoked_by = models.ForeignKey(Account, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    revoke_reason = models.CharField(max_length=REASON_MAX, blank=True)

    objects = AgentTokenQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index("agent", F("created_at").desc(), F("id").desc(), name="tokens_of_agent"),
            models.Index(F("created_at").desc(), F("id").desc(), name="newest_tokens"),
            models.Index("prefix", name="token_prefix"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(revoked_at=None, revoked_by=None, revoke_reason="")
                | Q(revoked_at__isnull=False, revoked_by__isnull=False),
                name="token_revoked_whole",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.prefix}…"

    @property
    def ends_at(self) -> datetime:
        """When it stopped to work or will, if its agent is not stopped."""
        return self.expires_at if self.revoked_at is None else self.revoked_at

    @property
    def status(self) -> TokenStatus:
        if self.revoked_at is not None:
            return TokenStatus.REVOKED
        if self.expires_at <= timezone.now():
            return TokenStatus.EXPIRED
        return TokenStatus.SUSPENDED if self.agent.is_stopped else TokenStatus.ACTIVE
