"""What the operations of agents take and give. Answers are rendered by `agents.records`; here they are described."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from agents.models import RequestStatus, Scope, TokenStatus
from agents.models.agent import COMMUNITIES_MAX, REASON_MAX
from agents.models.request import PURPOSE_MAX, PURPOSE_MIN, WEBSITE_MAX
from agents.models.token import DAYS_DEFAULT, DAYS_MAX, LABEL_MAX
from config.api.fields import BodySerializer, Choice, Id, Integer, ListOf, ListQuery, Text
from messaging.fields import Name, WebUrl
from messaging.models.account import HANDLE, NAME_MAX, NAME_MIN
from messaging.serializers.accounts import AccountSerializer

# Duplicates are folded, so there may be more than there are scopes.
SCOPES_MAX = 100


def _scopes(**kwargs: Any) -> ListOf:
    return ListOf(child=Choice(choices=Scope.choices), allow_empty=False, max_length=SCOPES_MAX, **kwargs)


def _communities(help_text: str) -> ListOf:
    return ListOf(child=Id(), max_length=COMMUNITIES_MAX, source="community_ids", required=False, help_text=help_text)


class NewRequest(BodySerializer):
    agentName = Name(source="agent_name", min_length=NAME_MIN, max_length=NAME_MAX)
    agentHandle = Text(source="agent_handle", pattern=HANDLE)
    purpose = Text(trim=True, min_length=PURPOSE_MIN, max_length=PURPOSE_MAX)
    website = WebUrl(max_length=WEBSITE_MAX, required=False)
    scopes = _scopes()
    communityIds = _communities("Absent or empty: every community.")


class Reason(BodySerializer):
    reason = Text(max_length=REASON_MAX, required=False, allow_blank=True)


class Approval(Reason):
    scopes = _scopes(required=False, help_text="May only narrow what was asked for.")
    communityIds = _communities("May only narrow what was asked for.")


class NewToken(BodySerializer):
    label = Name(max_length=LABEL_MAX, required=False, allow_blank=True)  # type: ignore[assignment]  # Field has a `label`
    expiresInDays = Integer(source="expires_in_days", min_value=1, max_value=DAYS_MAX, default=DAYS_DEFAULT)


class TokensQuery(ListQuery):
    all = Choice(choices=["1"], required=False, help_text="Everybody's; for super admins.")


class RequestsQuery(TokensQuery):
    status = Choice(choices=RequestStatus.choices, required=False)


class RequestRecord(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    status = serializers.ChoiceField(choices=RequestStatus.choices)
    agentName = serializers.CharField()
    agentHandle = serializers.CharField()
    purpose = serializers.CharField()
    website = serializers.CharField(allow_null=True)
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=Scope.choices))
    communityIds = serializers.ListField(child=serializers.UUIDField())
    requester = AccountSerializer()
    agent = AccountSerializer(allow_null=True)
    decidedBy = AccountSerializer(allow_null=True)
    decidedAt = serializers.DateTimeField(allow_null=True)
    reason = serializers.CharField(allow_null=True)
    createdAt = serializers.DateTimeField()


class RequestListRecord(serializers.Serializer[Any]):
    requests = RequestRecord(many=True)
    hasMore = serializers.BooleanField()
    nextCursor = serializers.CharField(allow_null=True)


class TokenRecord(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    prefix = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # Field has a `label`
    status = serializers.ChoiceField(choices=TokenStatus.choices)
    agent = AccountSerializer()
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=Scope.choices))
    communityIds = serializers.ListField(child=serializers.UUIDField())
    createdAt = serializers.DateTimeField()
    expiresAt = serializers.DateTimeField()
    lastUsedAt = serializers.DateTimeField(allow_null=True)
    revokedAt = serializers.DateTimeField(allow_null=True)
    revokeReason = serializers.CharField(allow_null=True)


class TokenListRecord(serializers.Serializer[Any]):
    tokens = TokenRecord(many=True)
    hasMore = serializers.BooleanField()
    nextCursor = serializers.CharField(allow_null=True)


class NewTokenRecord(serializers.Serializer[Any]):
    token = serializers.CharField(help_text="Never shown again.")
    tokenId = serializers.UUIDField()
    prefix = serializers.CharField()
    expiresAt = serializers.DateTimeField()


class RevocationRecord(serializers.Serializer[Any]):
    revoked = serializers.BooleanField(help_text="false: it had been revoked before.")
    alreadyRevokedAt = serializers.DateTimeField(required=False)


class OwnTokenRecord(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    prefix = serializers.CharField()
    expiresAt = serializers.DateTimeField()


class LimitRecord(serializers.Serializer[Any]):
    limit = serializers.IntegerField()
    remaining = serializers.IntegerField()
    resetsAt = serializers.DateTimeField(allow_null=True, help_text="When a place falls free; null: none is taken.")


class SelfRecord(serializers.Serializer[Any]):
    account = AccountSerializer()
    operator = AccountSerializer()
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=Scope.choices))
    communityIds = serializers.ListField(child=serializers.UUIDField(), help_text="Empty: every community.")
    token = OwnTokenRecord()
    limits = serializers.DictField(child=LimitRecord(), help_text="By scope.")
