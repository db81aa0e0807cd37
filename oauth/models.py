from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Exists, F, OuterRef, Q
from django.db.models.functions import Now
from django.utils import timezone

from agents.models import COMMUNITIES_MAX, PURPOSE_MAX, Agent, AgentRequest, AgentToken, Scope
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


NAME_OF_CLIENT_MAX = 120
URI_MAX = 500
URIS_MAX = 10
CHALLENGE_LENGTH = 43


class OAuthClient(models.Model):
    """A program that registered itself (RFC 7591), or the last read version of the document that its `client_id` names.

    It has no secret, and its name is its own claim.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(max_length=NAME_OF_CLIENT_MAX)
    redirect_uris = ArrayField(models.CharField(max_length=URI_MAX))
    metadata_url = models.CharField(max_length=URI_MAX, null=True, blank=True, unique=True)
    fetched_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    def __str__(self) -> str:
        return self.name

    @property
    def client_id(self) -> str:
        return self.metadata_url or str(self.pk)


class CodeGrantQuerySet(models.QuerySet["CodeGrant"]):
    def of_person(self, account: Account) -> CodeGrantQuerySet:
        return self.filter(person=account)

    def working(self) -> CodeGrantQuerySet:
        """Those whose program can get a token now."""
        unused = RefreshToken.objects.filter(grant=OuterRef("pk"), used_at=None, expires_at__gt=Now())
        return self.filter(Exists(unused), revoked_at=None)


class CodeGrant(models.Model):
    """A person's consent that a client acts as one of their agents: the code, then the family of its tokens.

    `name` is what the person read; the document of the client may have another one by now.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    client = models.ForeignKey(OAuthClient, on_delete=models.CASCADE, related_name="grants")
    person = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=NAME_OF_CLIENT_MAX)
    scopes = ArrayField(models.CharField(max_length=5, choices=Scope))
    redirect_uri = models.CharField(max_length=URI_MAX)
    challenge = models.CharField(max_length=CHALLENGE_LENGTH)
    code_digest = models.BinaryField(max_length=DIGEST_BYTES, unique=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    exchanged_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = CodeGrantQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name


class RefreshToken(models.Model):
    """A refresh token, which works once, with the access token that was issued beside it."""

    grant = models.ForeignKey(CodeGrant, on_delete=models.CASCADE, related_name="refresh_tokens")
    access_token = models.OneToOneField(AgentToken, on_delete=models.CASCADE, related_name="refresh_token")
    digest = models.BinaryField(max_length=DIGEST_BYTES, unique=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.grant_id}"
