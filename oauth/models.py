from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils import timezone

from agents.models import COMMUNITIES_MAX, PURPOSE_MAX, AgentRequest, AgentToken, Scope
from kernel.api.ids import new_id
from messaging.models import Account
from messaging.models.account import HANDLE_MAX, NAME_MAX

DIGEST_BYTES = 32
NETWORK_MAX = 64


class DeviceGrantQuerySet(models.QuerySet["DeviceGrant"]):
    def of_person(self, account: Account) -> DeviceGrantQuerySet:
        return self.filter(person=account)

    def undelivered(self) -> DeviceGrantQuerySet:
        """Those that a person has confirmed and whose token may still be fetched."""
        return self.filter(decided_at__isnull=False, is_refused=False, delivered_at=None, expires_at__gt=Now())


class DeviceGrant(models.Model):
    """What a program asks for (RFC 8628), who confirmed it, and the token that it got.

    Both codes are stored as keyed digests. The answer is encrypted under the device code, which only the program has.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    device_digest = models.BinaryField(max_length=DIGEST_BYTES, unique=True)
    user_digest = models.BinaryField(max_length=DIGEST_BYTES, unique=True)
    # These are what the program sent; the request has what its person made of them.
    client_name = models.CharField(max_length=NAME_MAX)
    handle = models.CharField(max_length=HANDLE_MAX, blank=True)
    purpose = models.CharField(max_length=PURPOSE_MAX, blank=True)
    scopes = ArrayField(models.CharField(max_length=5, choices=Scope), default=list, blank=True)
    community_ids = ArrayField(models.UUIDField(), default=list, blank=True)
    for_account = models.BooleanField(default=False, help_text="Signs the person in, in place of an agent.")
    network = models.CharField(max_length=NETWORK_MAX, blank=True, help_text="From where it was asked, truncated.")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField()

    person = models.ForeignKey(Account, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)
    is_refused = models.BooleanField(default=False)
    # The request for the agent that gets the token; a decided one if the person operates the agent already.
    request = models.ForeignKey(AgentRequest, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    token = models.ForeignKey(AgentToken, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    answer = models.BinaryField(null=True)
    delivered_at = models.DateTimeField(null=True, blank=True)

    objects = DeviceGrantQuerySet.as_manager()

    class Meta:
        indexes = [models.Index("person", F("created_at").desc(), name="device_grants_of_person")]
        constraints = [
            models.CheckConstraint(
                condition=Q(person=None, decided_at=None, is_refused=False, request=None, delivered_at=None)
                | Q(person__isnull=False, decided_at__isnull=False),
                name="device_grant_decided_whole",
            ),
            models.CheckConstraint(
                condition=Q(community_ids__len__lte=COMMUNITIES_MAX), name="device_grant_communities_few"
            ),
        ]

    def __str__(self) -> str:
        return self.client_name
