from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from agents.models.agent import COMMUNITIES_MAX, REASON_MAX, Agent, Scope
from kernel.api.ids import new_id
from messaging.models import Account
from messaging.models.account import HANDLE_MAX, NAME_MAX

AGENT_NAME_MIN = 2
PURPOSE_MIN = 20
PURPOSE_MAX = 2_000
WEBSITE_MAX = 2_048
PENDING_MAX = 3


class RequestStatus(models.TextChoices):
    """A request starts as pending; every other status is final."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    CANCELLED = "cancelled"


UNDECIDED = Q(decided_at=None, decided_by=None)
DECIDED = Q(decided_at__isnull=False, decided_by__isnull=False)


class AgentRequestQuerySet(models.QuerySet["AgentRequest"]):
    def asked_by(self, account: Account) -> AgentRequestQuerySet:
        return self.filter(requester=account)

    def pending(self) -> AgentRequestQuerySet:
        return self.filter(status=RequestStatus.PENDING)

    def with_accounts(self) -> AgentRequestQuerySet:
        """Load the accounts that the serializer reads, in the same query."""
        return self.select_related("requester", "agent__account", "decided_by")


class AgentRequest(models.Model):
    """A person's request to operate an agent, with the requested grant. The agent stores what was granted."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    requester = models.ForeignKey(Account, on_delete=models.PROTECT, db_index=False, related_name="agent_requests")
    agent_name = models.CharField(max_length=NAME_MAX)
    agent_handle = models.CharField(max_length=HANDLE_MAX)
    purpose = models.CharField(max_length=PURPOSE_MAX)
    website = models.CharField(max_length=WEBSITE_MAX, blank=True)
    scopes = ArrayField(models.CharField(max_length=5, choices=Scope))
    community_ids = ArrayField(models.UUIDField(), default=list, blank=True, help_text="Empty: every community.")
    status = models.CharField(max_length=9, choices=RequestStatus, default=RequestStatus.PENDING)
    agent = models.OneToOneField(Agent, on_delete=models.PROTECT, null=True, blank=True, related_name="request")
    decided_by = models.ForeignKey(Account, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)
    reason = models.CharField(max_length=REASON_MAX, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = AgentRequestQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index("requester", F("created_at").desc(), F("id").desc(), name="requests_of_one"),
            models.Index("status", F("created_at").desc(), F("id").desc(), name="requests_by_status"),
            models.Index(F("created_at").desc(), F("id").desc(), name="newest_requests"),
            # The order of the admin: pending requests first, oldest first.
            models.Index(F("decided_at").desc(), "created_at", "id", name="decision_queue"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["agent_handle"],
                condition=Q(status__in=[RequestStatus.PENDING, RequestStatus.APPROVED]),
                name="request_handle_free",
            ),
            models.CheckConstraint(condition=Q(status__in=RequestStatus.values), name="request_status_known"),
            models.CheckConstraint(
                condition=Q(scopes__contained_by=Scope.values) & Q(scopes__len__gte=1), name="request_scopes_known"
            ),
            models.CheckConstraint(
                condition=Q(community_ids__len__lte=COMMUNITIES_MAX), name="request_communities_few"
            ),
            models.CheckConstraint(
                condition=(Q(status=RequestStatus.PENDING) & UNDECIDED) | (~Q(status=RequestStatus.PENDING) & DECIDED),
                name="request_decided_whole",
            ),
            models.CheckConstraint(
                condition=Q(status=RequestStatus.APPROVED, agent__isnull=False)
                | (~Q(status=RequestStatus.APPROVED) & Q(agent=None)),
                name="request_approved_has_agent",
            ),
        ]

    def __str__(self) -> str:
        return f"@{self.agent_handle} for {self.requester}"
