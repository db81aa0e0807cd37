"""Request bodies and responses of the agent operations."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from agents.models import AgentRequest, AgentToken, RequestStatus, Scope, TokenStatus
from agents.models.agent import COMMUNITIES_MAX, REASON_MAX
from agents.models.request import PURPOSE_MAX, PURPOSE_MIN, WEBSITE_MAX
from agents.models.token import DAYS_DEFAULT, DAYS_MAX, LABEL_MAX
from config.api.credentials import Credential
from config.api.fields import Choice, Id, Integer, ListOf, NullableText, Text
from config.api.pagination import paginated
from config.api.serializers import BodySerializer
from config.writes.rate_limits import RateLimitUsage
from messaging.fields import Name, WebUrl
from messaging.models.account import HANDLE, NAME_MAX, NAME_MIN
from messaging.serializers.accounts import AccountSerializer

# Duplicates are removed, so a list may be longer than the number of scopes.
SCOPES_MAX = 100


def _scopes(**kwargs: Any) -> ListOf:
    return ListOf(child=Choice(choices=Scope.choices), allow_empty=False, max_length=SCOPES_MAX, **kwargs)


def _granted_scopes(**kwargs: Any) -> serializers.ListField:
    return serializers.ListField(child=serializers.ChoiceField(choices=Scope.choices), **kwargs)


def _granted_communities(source: str = "community_ids", **kwargs: Any) -> serializers.ListField:
    return serializers.ListField(child=serializers.UUIDField(), source=source, **kwargs)


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
    scopes = _scopes(required=False, help_text="A subset of the requested ones; absent: all of them.")
    communityIds = _communities("A subset of the requested ones; absent: all of them.")


class NewToken(BodySerializer):
    label = Name(max_length=LABEL_MAX, required=False, allow_blank=True)  # type: ignore[assignment]  # Field has a `label`
    expiresInDays = Integer(source="expires_in_days", min_value=1, max_value=DAYS_MAX, default=DAYS_DEFAULT)


class RequestSerializer(serializers.Serializer[AgentRequest]):
    id = serializers.UUIDField()
    status = serializers.ChoiceField(choices=RequestStatus.choices)
    agentName = serializers.CharField(source="agent_name")
    agentHandle = serializers.CharField(source="agent_handle")
    purpose = serializers.CharField()
    website = NullableText()
    scopes = _granted_scopes()
    communityIds = _granted_communities()
    requester = AccountSerializer()
    agent = AccountSerializer(source="agent.account", allow_null=True)
    decidedBy = AccountSerializer(source="decided_by", allow_null=True)
    decidedAt = serializers.DateTimeField(source="decided_at", allow_null=True)
    reason = NullableText()
    createdAt = serializers.DateTimeField(source="created_at")


RequestListSerializer = paginated("RequestListSerializer", requests=RequestSerializer(many=True))


class TokenSerializer(serializers.Serializer[AgentToken]):
    id = serializers.UUIDField()
    prefix = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # Field has a `label`
    status = serializers.ChoiceField(choices=TokenStatus.choices)
    agent = AccountSerializer(source="agent.account")
    scopes = _granted_scopes(source="agent.scopes")
    communityIds = _granted_communities(source="agent.community_ids")
    createdAt = serializers.DateTimeField(source="created_at")
    expiresAt = serializers.DateTimeField(source="expires_at")
    lastUsedAt = serializers.DateTimeField(source="last_used_at", allow_null=True)
    revokedAt = serializers.DateTimeField(source="revoked_at", allow_null=True)
    revokeReason = NullableText(source="revoke_reason")


TokenListSerializer = paginated("TokenListSerializer", tokens=TokenSerializer(many=True))


# From `{"token", "row"}`. The only response with the value of a token.
class NewTokenSerializer(serializers.Serializer[Any]):
    token = serializers.CharField(help_text="Shown in this response only.")
    tokenId = serializers.UUIDField(source="row.id")
    prefix = serializers.CharField(source="row.prefix")
    expiresAt = serializers.DateTimeField(source="row.expires_at")


class RevocationSerializer(serializers.Serializer[Any]):
    revoked = serializers.BooleanField(help_text="false: the token was revoked before this call.")
    alreadyRevokedAt = serializers.DateTimeField(required=False)


class OwnTokenSerializer(serializers.Serializer[Credential]):
    id = serializers.UUIDField(source="token_id")
    prefix = serializers.CharField(source="token_prefix")
    expiresAt = serializers.DateTimeField(source="expires_at")


class LimitSerializer(serializers.Serializer[RateLimitUsage]):
    limit = serializers.IntegerField()
    remaining = serializers.IntegerField()
    resetsAt = serializers.DateTimeField(
        source="resets_at", allow_null=True, help_text="When the oldest counted write expires; null: none is counted."
    )


# From `{"agent", "token", "limits"}`.
class SelfSerializer(serializers.Serializer[Any]):
    account = AccountSerializer(source="agent.account")
    operator = AccountSerializer(source="agent.operator")
    scopes = _granted_scopes(source="agent.scopes")
    communityIds = _granted_communities(source="agent.community_ids", help_text="Empty: every community.")
    token = OwnTokenSerializer()
    limits = serializers.DictField(child=LimitSerializer(), help_text="By scope.")
