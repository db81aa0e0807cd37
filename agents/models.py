from __future__ import annotations

from datetime import datetime

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Case, F, Q, When
from django.db.models.functions import Now
from django.utils import timezone

from agents.tokens import DIGEST_BYTES, PREFIX_LENGTH
from kernel.api.ids import new_id
from messaging.models import Account
from messaging.models.account import HANDLE_MAX, NAME_MAX

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


class Review(models.TextChoices):
    """Which posts of an agent its operator releases before they go their way."""

    NONE = "none"
    ALL = "all"


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
    review = models.CharField(max_length=4, choices=Review, default=Review.NONE, db_default=Review.NONE)
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
        return self.select_related("requester", "agent__account", "widens__account", "decided_by")


class AgentRequest(models.Model):
    """A person's request to operate an agent, with the requested grant, or to add to the grant of their agent.

    The agent stores what was granted. A request that widens an agent has its name and handle, and names only what is
    asked for beside what the agent has.
    """

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
    widens = models.ForeignKey(
        Agent, on_delete=models.PROTECT, null=True, blank=True, db_index=False, related_name="widenings"
    )
    # An empty list of communities means none more in a widening, so that this says every community.
    every_community = models.BooleanField(default=False, db_default=False, editable=False)
    # The grant before an approved widening, for the history and for an undo.
    former_scopes = ArrayField(models.CharField(max_length=5, choices=Scope), null=True, editable=False)
    former_community_ids = ArrayField(models.UUIDField(), null=True, editable=False)
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
            models.Index("widens", condition=Q(widens__isnull=False), name="widenings_of_agent"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["agent_handle"],
                condition=Q(status__in=[RequestStatus.PENDING, RequestStatus.APPROVED], widens=None),
                name="request_handle_free",
            ),
            models.UniqueConstraint(
                fields=["widens"], condition=Q(status=RequestStatus.PENDING), name="request_one_widening"
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
                condition=Q(status=RequestStatus.APPROVED, agent__isnull=False, widens=None)
                | Q(status=RequestStatus.APPROVED, agent=None, widens__isnull=False)
                | (~Q(status=RequestStatus.APPROVED) & Q(agent=None)),
                name="request_approved_has_agent",
            ),
        ]

    def __str__(self) -> str:
        return f"@{self.agent_handle} for {self.requester}"

    @property
    def subject(self) -> Agent | None:
        """The agent that an approval has created, or that the request widens."""
        return self.widens or self.agent

    @property
    def asks_every_community(self) -> bool:
        return self.every_community if self.widens_id else not self.community_ids


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

    def created_by_people(self) -> AgentTokenQuerySet:
        """Not those that a program renews each hour."""
        return self.filter(scopes=None)

    def locked(self) -> AgentTokenQuerySet:
        return self.select_for_update(of=("self",), no_key=True)


class AgentToken(models.Model):
    """A credential of an agent. Only a keyed digest of it is stored; its communities are the agent's.

    Its scopes are the agent's too; those of a program's token, which ends within the hour (the app oauth), are the ones
    of `scopes` that the agent has.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, db_index=False, related_name="tokens")
    digest = models.BinaryField(max_length=DIGEST_BYTES, unique=True)
    prefix = models.CharField(max_length=PREFIX_LENGTH)
    label = models.CharField(max_length=LABEL_MAX, blank=True)
    scopes = ArrayField(models.CharField(max_length=5, choices=Scope), null=True, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    created_by = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="+")
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True)
    # When the inboxes of the agent and its operator got the event that the token expires soon. Of a token that
    # a rotation ends later: when its operator chose that.
    expiry_announced_at = models.DateTimeField(null=True, editable=False)
    # How long the successor is valid of a token that a rotation ends later: its own days no longer say it.
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
    def granted_scopes(self) -> list[str]:
        return [scope for scope in self.agent.scopes if self.scopes is None or scope in self.scopes]

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


OPERATION_MAX = 64
CODE_MAX = 80


class RefusedCall(models.Model):
    """The number of refused calls of an agent by day, operation and error code.

    The number of rows per agent and day is bounded by the operations and codes, not by the calls. `operation` is empty
    for a call to no operation (a page, an unknown method).
    """

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, db_index=False, related_name="refused_calls")
    day = models.DateField(db_index=True)
    operation = models.CharField(max_length=OPERATION_MAX, blank=True)
    code = models.CharField(max_length=CODE_MAX)
    calls = models.PositiveIntegerField()
    last_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["agent", "day", "operation", "code"], name="refused_calls_of_a_day"),
        ]

    def __str__(self) -> str:
        return f"{self.code} × {self.calls}"
