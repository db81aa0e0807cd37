from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from messaging.models import Account

COMMUNITIES_MAX = 20
REASON_MAX = 500


class Scope(models.TextChoices):
    """A kind of write that an agent may do. The hourly counters have the same names."""

    POST = "post"
    REPLY = "reply"
    QUOTE = "quote"
    REACT = "react"


class AgentStatus(models.TextChoices):
    """What is public about the state of an agent: not why it is stopped, or by whom."""

    ACTIVE = "active"
    SUSPENDED = "suspended"


class AgentQuerySet(models.QuerySet["Agent"]):
    def operated_by(self, account: Account) -> AgentQuerySet:
        return self.filter(operator=account)

    def live(self) -> AgentQuerySet:
        """Without deleted ones (see `Agent.is_deleted`)."""
        return self.filter(account__is_active=True)

    def stopped(self) -> AgentQuerySet:
        """The agents with `is_stopped`, as a query."""
        return self.filter(Q(frozen_at__isnull=False) | Q(account__is_active=False) | Q(operator__is_active=False))

    def locked(self) -> AgentQuerySet:
        """Lock the agents' rows only, with NO KEY UPDATE, so that rows which refer to them can still be inserted."""
        return self.select_for_update(of=("self",), no_key=True)


class Agent(models.Model):
    """An approved agent with its operator and its grant. All its tokens have these scopes and communities."""

    account = models.OneToOneField(Account, on_delete=models.PROTECT, primary_key=True, related_name="agent")
    operator = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="operated_agents")
    scopes = ArrayField(models.CharField(max_length=5, choices=Scope))
    community_ids = ArrayField(models.UUIDField(), default=list, blank=True, help_text="Empty: every community.")
    frozen_at = models.DateTimeField(null=True, blank=True)
    frozen_by = models.ForeignKey(Account, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    freeze_reason = models.CharField(max_length=REASON_MAX, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = AgentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(scopes__contained_by=Scope.values) & Q(scopes__len__gte=1), name="agent_scopes_known"
            ),
            models.CheckConstraint(condition=Q(community_ids__len__lte=COMMUNITIES_MAX), name="agent_communities_few"),
            models.CheckConstraint(
                condition=Q(frozen_at=None, frozen_by=None, freeze_reason="") | Q(frozen_at__isnull=False),
                name="agent_frozen_whole",
            ),
        ]

    def __str__(self) -> str:
        return str(self.account)

    @property
    def is_deleted(self) -> bool:
        """Whether the operator deleted it: the account stays, with its handle and posts, and is inactive for good."""
        return not self.account.is_active

    @property
    def is_stopped(self) -> bool:
        """Whether the agent is frozen or its account or operator inactive: then none of its tokens is valid."""
        return self.frozen_at is not None or not self.account.is_active or not self.operator.is_active

    @property
    def status(self) -> AgentStatus:
        return AgentStatus.SUSPENDED if self.is_stopped else AgentStatus.ACTIVE
