from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, OuterRef, Q
from django.db.models.functions import Now

from kernel.api.ids import new_id
from kernel.changes.models import TYPE_MAX
from kernel.changes.rows import Cursor, Position
from kernel.jobs.leases import Leased, LeasedQuerySet
from messaging.models.account import Account

URL_MAX = 2_048
REASON_MAX = 500
# Of one embed or agent, and of one account at one host.
WEBHOOKS_MAX = 10
WEBHOOKS_OF_HOST_MAX = 20
DELIVERIES_SHOWN = 50


class WebhookTarget(models.TextChoices):
    """What a webhook reports: the public changes of an embed's community, or the inbox of an agent."""

    EMBED = "embed"
    AGENT = "agent"


class WebhookStatus(models.TextChoices):
    """`failing`: the last attempt failed and another follows. `disabled`: nothing is sent."""

    ACTIVE = "active"
    FAILING = "failing"
    DISABLED = "disabled"


class DisabledReason(models.TextChoices):
    UNREACHABLE = "unreachable", "no delivery succeeded for 24 hours"
    GONE = "gone", "the receiver answered 410"
    TARGET_UNAVAILABLE = (
        "target_unavailable",
        "the embed or agent is deleted or disabled",
    )
    SECRET_LOST = "secret_lost", "the secret cannot be decrypted"
    SUPER_ADMIN = "super_admin", "a super admin disabled it"


class DeliveryError(models.TextChoices):
    """Why an attempt failed. The response of the receiver is not stored.

    A host without an address and one with an address that is not global have one error, so that nobody learns which
    names exist in the operator's network.
    """

    TIMEOUT = "timeout"
    ADDRESS_NOT_ALLOWED = "address_not_allowed"
    CONNECTION_FAILED = "connection_failed"
    TLS_FAILED = "tls_failed"
    INVALID_RESPONSE = "invalid_response"
    REDIRECTED = "redirected"
    REFUSED = "refused"
    CHALLENGE_FAILED = "challenge_failed"


class WebhookQuerySet(LeasedQuerySet["Webhook"]):
    def owned_by(self, owner_id: UUID) -> WebhookQuerySet:
        return self.filter(owner_id=owner_id)

    def ending_with(self, kind: WebhookTarget, target_id: UUID | OuterRef) -> WebhookQuerySet:
        """Those of an embed or agent that end with it: those that a super admin has disabled stay."""
        of_target = self.filter(target_kind=kind, target_id=target_id)
        return of_target.exclude(disabled_reason=DisabledReason.SUPER_ADMIN)

    def due(self) -> WebhookQuerySet:
        """Those that may have something to send now and that no process is sending."""
        is_due = ~Q(status=WebhookStatus.DISABLED) & (Q(next_attempt_at=None) | Q(next_attempt_at__lte=Now()))
        return self.unleased().filter(is_due | Q(test_id__isnull=False))


class Webhook(Leased):
    """A URL that gets the events of an embed or agent, in their order, at least once each.

    `generation`, `xid` and `row_id` are the cursor in the change log after the last delivered event. A process that
    delivers has a lease, which it renews with each event; a super admin who disables the webhook takes it away.
    """

    LEASE = timedelta(seconds=15)

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(Account, on_delete=models.PROTECT, db_index=False, related_name="webhooks")
    target_kind = models.CharField(max_length=5, choices=WebhookTarget)
    target_id = models.UUIDField()
    url = models.CharField(max_length=URL_MAX)
    types = ArrayField(models.CharField(max_length=TYPE_MAX), default=list, blank=True)
    # Encrypted (see messaging.webhooks.secrets).
    secret = models.BinaryField()
    previous_secret = models.BinaryField(null=True)
    previous_secret_until = models.DateTimeField(null=True)
    # When its receiver answered the challenge; before, nothing else is sent.
    verified_at = models.DateTimeField(null=True)
    status = models.CharField(max_length=8, choices=WebhookStatus, default=WebhookStatus.ACTIVE)
    disabled_reason = models.CharField(max_length=18, choices=DisabledReason, blank=True)
    disabled_details = models.CharField(max_length=REASON_MAX, blank=True)
    failing_since = models.DateTimeField(null=True)
    failures = models.IntegerField(default=0)
    next_attempt_at = models.DateTimeField(null=True)
    # A requested test event that has not been sent.
    test_id = models.UUIDField(null=True)
    generation = models.SmallIntegerField()
    xid = models.BigIntegerField()
    row_id = models.BigIntegerField()
    # When the cursor was last compared with the log; the cursor of a webhook without events moves once an hour.
    checked_at = models.DateTimeField(db_default=Now())
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    objects = WebhookQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index("owner", F("created_at").desc(), F("id").desc(), name="webhooks_of_one"),
            models.Index("target_id", name="webhooks_of_target"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(status__in=WebhookStatus.values), name="webhook_status_known"),
            models.CheckConstraint(
                condition=Q(status=WebhookStatus.DISABLED, disabled_reason__in=DisabledReason.values)
                | (~Q(status=WebhookStatus.DISABLED) & Q(disabled_reason="", disabled_details="")),
                name="webhook_disabled_whole",
            ),
        ]

    def __str__(self) -> str:
        """Names the embed or agent if `with_target_names` has loaded the row, else the owner."""
        name = getattr(self, "target_name", None)
        return f"webhook of {self.target_kind} {name}" if name else f"webhook of {self.owner}"

    @property
    def is_blocked(self) -> bool:
        """Whether a super admin disabled it."""
        return self.disabled_reason == DisabledReason.SUPER_ADMIN

    @property
    def is_unverified(self) -> bool:
        """Whether its receiver is asked to answer the challenge."""
        return self.verified_at is None and self.status != WebhookStatus.DISABLED

    @property
    def is_asked_for(self) -> bool:
        """Whether something is sent before the events of the log: the challenge, or a test."""
        return self.verified_at is None or self.test_id is not None

    @property
    def cursor(self) -> Cursor:
        return Cursor(self.generation, Position(self.xid, self.row_id))

    @property
    def embed_id(self) -> UUID | None:
        return self.target_id if self.target_kind == WebhookTarget.EMBED else None

    @property
    def agent_id(self) -> UUID | None:
        return self.target_id if self.target_kind == WebhookTarget.AGENT else None


class WebhookDelivery(models.Model):
    """An attempt to deliver an event; the last DELIVERIES_SHOWN of a webhook are stored."""

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, db_index=False, related_name="deliveries")
    event_id = models.UUIDField()
    type = models.CharField(max_length=TYPE_MAX)
    at = models.DateTimeField(db_default=Now())
    attempt = models.IntegerField()
    status_code = models.IntegerField(null=True)
    error = models.CharField(max_length=19, choices=DeliveryError, blank=True)
    duration_ms = models.IntegerField()

    class Meta:
        indexes = [models.Index("webhook", F("id").desc(), name="deliveries_of_webhook")]

    def __str__(self) -> str:
        return f"{self.type}: {self.status_code or self.error}"
