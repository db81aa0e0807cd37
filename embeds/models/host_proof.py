from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now
from django.utils import timezone

from embeds import domains
from kernel.api.ids import new_id
from messaging.models import Community

# A proof ends when the record was not found for this time.
LOST_AFTER = timedelta(days=14)
TOKEN_MAX = 64
# The record of a host: the label before its name, and what its value begins with.
LABEL = "_community"
VALUE = "community-verification="
# What is stored of the records that were found instead.
VALUES_MAX = 5
VALUE_MAX = 255


class HostState(models.TextChoices):
    """What the last look at the record found."""

    UNSEEN = "unseen"
    FOUND = "found"
    NO_RECORD = "no_record"
    OTHER_VALUES = "other_values"
    NO_ANSWER = "no_answer"


class HostProofQuerySet(models.QuerySet["HostProof"]):
    def proved(self) -> HostProofQuerySet:
        """Those that count now: none without DOMAIN_CHECKS."""
        return self.filter(found_at__gt=Now() - LOST_AFTER) if settings.DOMAIN_CHECKS else self.none()

    def of_community(self, community_id: UUID) -> HostProofQuerySet:
        return self.filter(community=community_id).order_by("host")


class HostProof(models.Model):
    """A host that a community proves to be its own by a TXT record. Several communities may prove one host.

    `host` has no port and no `www.`. The record counts for LOST_AFTER since `found_at`, when it was last found.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    community = models.ForeignKey(Community, on_delete=models.CASCADE, db_index=False, related_name="host_proofs")
    host = models.CharField(max_length=domains.HOST_MAX, db_index=True)
    token = models.CharField(max_length=TOKEN_MAX)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    # Since when it has been proved without an interruption.
    proved_at = models.DateTimeField(null=True)
    found_at = models.DateTimeField(null=True)
    # The last look, and when a moderator last asked for one.
    checked_at = models.DateTimeField(null=True)
    asked_at = models.DateTimeField(null=True)
    state = models.CharField(max_length=12, choices=HostState, default=HostState.UNSEEN)
    values = ArrayField(models.CharField(max_length=VALUE_MAX), size=VALUES_MAX, default=list)

    objects = HostProofQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["community", "host"], name="one_proof_of_host"),
            models.CheckConstraint(condition=models.Q(state__in=HostState.values), name="host_state_known"),
        ]

    def __str__(self) -> str:
        return self.host

    @property
    def record_name(self) -> str:
        return f"{LABEL}.{self.host}"

    @property
    def record_value(self) -> str:
        return f"{VALUE}{self.token}"

    @property
    def is_proved(self) -> bool:
        """Tell the same as `proved`, for pages and responses that list what the database has returned."""
        is_fresh = self.found_at is not None and self.found_at > timezone.now() - LOST_AFTER
        return settings.DOMAIN_CHECKS and is_fresh

    @property
    def is_checking(self) -> bool:
        """Whether a moderator waits for a look."""
        return self.asked_at is not None and (self.checked_at is None or self.asked_at > self.checked_at)
