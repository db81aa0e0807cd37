"""The records of requests, tokens and agents.

The bodies of requests for agents and tokens.
"""

from __future__ import annotations

from typing import Any, ClassVar

from django.conf import settings
from rest_framework import serializers

from agents.models import (
    AGENT_NAME_MIN,
    COMMUNITIES_MAX,
    DAYS_DEFAULT,
    DAYS_MAX,
    LABEL_MAX,
    PURPOSE_MAX,
    PURPOSE_MIN,
    REASON_MAX,
    WEBSITE_MAX,
    Agent,
    AgentRequest,
    AgentStatus,
    AgentToken,
    RequestStatus,
    Scope,
    TokenStatus,
)
from agents.services.tokens import OldEnds
from kernel.api.credentials import Credential
from kernel.api.exceptions import InvalidInput
from kernel.api.fields import Choice, Id, Integer, ListOf, NullableText, Text
from kernel.api.openapi.example_values import ID
from kernel.api.openapi.field_schemas import COMMON_TYPES
from kernel.api.pagination import paginated
from kernel.api.serializers import BodySerializer
from kernel.writes.rate_limits import RateLimitUsage
from messaging.accounts.serializers import EXAMPLE_PERSON, AccountSerializer
from messaging.models.account import HANDLE, NAME_MAX
from messaging.serializer_fields import Name, WebUrl

# Duplicates are removed, so a list may be longer than the number of scopes.
SCOPES_MAX = 100


def _scopes(*, allow_empty: bool = False, **kwargs: Any) -> ListOf:
    return ListOf(child=Choice(choices=Scope.choices), allow_empty=allow_empty, max_length=SCOPES_MAX, **kwargs)


def _communities(help_text: str) -> ListOf:
    return ListOf(child=Id(), max_length=COMMUNITIES_MAX, source="community_ids", required=False, help_text=help_text)


class NewRequest(BodySerializer):
    openapi_example: ClassVar[dict[str, Any]] = {
        "agentName": "Library Helper",
        "agentHandle": "library_helper",
        "purpose": "Answers questions about our books.",
        "scopes": ["post", "reply"],
    }
    agentId = Id(source="agent_id", required=False, help_text="Your agent, to ask for more rights of it.")
    agentName = Name(
        source="agent_name",
        min_length=AGENT_NAME_MIN,
        max_length=NAME_MAX,
        required=False,
        help_text="Of a new agent: shown beside its posts.",
    )
    agentHandle = Text(
        source="agent_handle", pattern=HANDLE, required=False, help_text="Of a new agent: unique, of a-z, 0-9 and _."
    )
    purpose = Text(
        trim=True, min_length=PURPOSE_MIN, max_length=PURPOSE_MAX, help_text="What it will do, for the super admin."
    )
    website = WebUrl(max_length=WEBSITE_MAX, required=False, help_text="About a new agent.")
    scopes = _scopes(help_text="What it needs to write.")
    communityIds = _communities("Empty: every community. Absent: every community; with agentId: no more than it has.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """The arguments of `request_agent`, or with `agent_id` those of `request_widening`."""
        of_new_agent = {"agentName": "agent_name", "agentHandle": "agent_handle"}
        if "agent_id" in attrs:
            for name, argument in (of_new_agent | {"website": "website"}).items():
                if argument in attrs:
                    raise InvalidInput(f"Send agentId without {name}.", field=name)
            return attrs
        for name, argument in of_new_agent.items():
            if argument not in attrs:
                raise InvalidInput("Send it, or agentId for more rights of your agent.", field=name)
        return attrs


class ReasonBody(BodySerializer):
    openapi_example: ClassVar[dict[str, Any]] = {"reason": "No longer used."}
    reason = Text(max_length=REASON_MAX, required=False, allow_blank=True, help_text="Shown to the operator.")


class Approval(ReasonBody):
    openapi_example: ClassVar[dict[str, Any]] = {"reason": "Welcome.", "scopes": ["reply"]}
    scopes = _scopes(allow_empty=True, required=False, help_text="A subset, empty for a widening only; absent: all.")
    communityIds = _communities("A subset; absent: all.")


class NewToken(BodySerializer):
    openapi_example: ClassVar[dict[str, Any]] = {"label": "laptop", "expiresInDays": 30}
    label = Name(max_length=LABEL_MAX, required=False, allow_blank=True, help_text="To tell tokens apart.")  # type: ignore[assignment]  # Field has a `label`
    expiresInDays = Integer(
        source="expires_in_days", min_value=1, max_value=DAYS_MAX, default=DAYS_DEFAULT, help_text="Days it is valid."
    )


class Rotation(BodySerializer):
    openapi_example: ClassVar[dict[str, Any]] = {"oldEndsIn": OldEnds.DAY}
    oldEndsIn = Choice(
        source="old_ends_in", choices=OldEnds.choices, default=OldEnds.NOW, help_text="When the former ends."
    )
    expiresInDays = Integer(
        source="expires_in_days",
        min_value=1,
        max_value=DAYS_MAX,
        required=False,
        help_text="Days the new one is valid; absent: as the former.",
    )


EXAMPLE_PREFIX = "cag_4fKm9Zq2"
EXAMPLE_TOKEN = f"{EXAMPLE_PREFIX}xW7Rb1Tn6Yc3Hd8Lp5Gv0Js2Qe4Ua9Mo7Fi1Bz"
EXAMPLE_AGENT = {"id": ID, "name": "Library Helper", "handle": "library_helper", "kind": "agent"}
COMMON_TYPES["Scope"] = {
    "type": "string",
    "enum": Scope.values,
    "description": "What an agent may write.",
}


def _granted_scopes(**kwargs: Any) -> serializers.ListField:
    return serializers.ListField(child=serializers.ChoiceField(choices=Scope.choices), **kwargs)


def _granted_communities(source: str = "community_ids", **kwargs: Any) -> serializers.ListField:
    return serializers.ListField(child=serializers.UUIDField(), source=source, **kwargs)


class RequestSerializer(serializers.Serializer[AgentRequest]):
    openapi_example: ClassVar[dict[str, Any]] = {
        "status": "pending",
        "agentName": "Library Helper",
        "agentHandle": "library_helper",
        "purpose": "Answers questions about our books.",
        "website": None,
        "scopes": ["post", "reply"],
        "communityIds": [],
        "everyCommunity": True,
        "widens": False,
        "agent": None,
        "grantedScopes": None,
        "grantedCommunityIds": None,
        "decidedBy": None,
        "decidedAt": None,
        "reason": None,
    }
    id = serializers.UUIDField()
    status = serializers.ChoiceField(choices=RequestStatus.choices, help_text="Of the request.")
    agentName = serializers.CharField(source="agent_name", help_text="As requested.")
    agentHandle = serializers.CharField(source="agent_handle", help_text="As requested.")
    purpose = serializers.CharField(help_text="As requested.")
    website = NullableText(help_text="As requested.")
    scopes = _granted_scopes(help_text="As requested.")
    communityIds = _granted_communities(help_text="As requested.")
    everyCommunity = serializers.BooleanField(
        source="asks_every_community", help_text="Whether it asks for every community."
    )
    widens = serializers.SerializerMethodField(help_text="Whether it asks for more rights of an agent.")
    requester = AccountSerializer()
    agent = AccountSerializer(source="subject.account", allow_null=True, help_text="null: not approved.")
    grantedScopes = _granted_scopes(
        source="subject.scopes", allow_null=True, help_text="What the agent may do now; null: not approved."
    )
    grantedCommunityIds = _granted_communities(
        source="subject.community_ids", allow_null=True, help_text="Empty: every community; null: not approved."
    )
    decidedBy = AccountSerializer(source="decided_by", allow_null=True, help_text="The super admin.")
    decidedAt = serializers.DateTimeField(source="decided_at", allow_null=True, help_text="null: not yet.")
    reason = NullableText(help_text="Of the decision.")
    createdAt = serializers.DateTimeField(source="created_at")

    def get_widens(self, request: AgentRequest) -> bool:
        return request.widens_id is not None


RequestListSerializer = paginated(
    "RequestListSerializer", requests=RequestSerializer(many=True, help_text="Newest first.")
)


class TokenSerializer(serializers.Serializer[AgentToken]):
    openapi_example: ClassVar[dict[str, Any]] = {
        "prefix": EXAMPLE_PREFIX,
        "label": "laptop",
        "status": "active",
        "agent": EXAMPLE_AGENT,
        "scopes": ["post", "reply"],
        "communityIds": [],
        "lastUsedAt": None,
        "revokedAt": None,
        "revokeReason": None,
    }
    id = serializers.UUIDField()
    prefix = serializers.CharField(help_text="Its first characters.")
    label = serializers.CharField(help_text="As given.")  # type: ignore[assignment]  # Field has a `label`
    status = serializers.ChoiceField(
        choices=TokenStatus.choices, help_text="`suspended`: not revoked, but the agent or its operator is stopped."
    )
    agent = AccountSerializer(source="agent.account")
    scopes = _granted_scopes(source="granted_scopes", help_text="What the agent may do with it.")
    communityIds = _granted_communities(source="agent.community_ids", help_text="Empty: every community.")
    createdAt = serializers.DateTimeField(source="created_at")
    expiresAt = serializers.DateTimeField(source="expires_at")
    lastUsedAt = serializers.DateTimeField(source="last_used_at", allow_null=True, help_text="null: never.")
    revokedAt = serializers.DateTimeField(source="revoked_at", allow_null=True, help_text="null: not revoked.")
    revokeReason = NullableText(source="revoke_reason", help_text="As given.")


TokenListSerializer = paginated("TokenListSerializer", tokens=TokenSerializer(many=True, help_text="Newest first."))


# From `{"token", "row"}`. The only response with the value of a token.
class CreatedTokenSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"token": EXAMPLE_TOKEN, "prefix": EXAMPLE_PREFIX}
    token = serializers.CharField(help_text="Shown in this response only.")
    tokenId = serializers.UUIDField(source="row.id")
    prefix = serializers.CharField(source="row.prefix", help_text="Its first characters.")
    expiresAt = serializers.DateTimeField(source="row.expires_at")


# From `{"token", "row", "former"}`.
class RotatedTokenSerializer(CreatedTokenSerializer):
    openapi_example: ClassVar[dict[str, Any]] = {}
    oldEndsAt = serializers.DateTimeField(source="former.ends_at", help_text="When the former ends.")


class RevocationSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"revoked": True}
    revoked = serializers.BooleanField(help_text="false: it was before.")
    alreadyRevokedAt = serializers.DateTimeField(required=False)


class OwnTokenSerializer(serializers.Serializer[Credential]):
    openapi_example: ClassVar[dict[str, Any]] = {"prefix": EXAMPLE_PREFIX}
    id = serializers.UUIDField(source="token_id")
    prefix = serializers.CharField(source="token_prefix", help_text="Its first characters.")
    expiresAt = serializers.DateTimeField(source="expires_at")


class LimitSerializer(serializers.Serializer[RateLimitUsage]):
    openapi_example: ClassVar[dict[str, Any]] = {"limit": 30, "remaining": 30, "resetsAt": None}
    limit = serializers.IntegerField(help_text="Writes an hour.")
    remaining = serializers.IntegerField(help_text="Writes left.")
    resetsAt = serializers.DateTimeField(
        source="resets_at", allow_null=True, help_text="When the oldest counted write expires."
    )


class DeletedAgentSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"handle": "library_helper", "deleted": True}
    handle = serializers.CharField(help_text="Nobody gets it again.")
    deleted = serializers.BooleanField(help_text="Always true.")


class OperatorSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {name: EXAMPLE_PERSON[name] for name in ("name", "handle")}
    name = serializers.CharField(help_text="Shown beside posts.")
    handle = serializers.CharField(help_text="Unique, without @.")


class PublicAgentSerializer(serializers.Serializer[Agent]):
    openapi_example: ClassVar[dict[str, Any]] = {
        "name": "Library Helper",
        "handle": "library_helper",
        "status": AgentStatus.ACTIVE,
    }
    id = serializers.UUIDField(source="account.pk")
    name = serializers.CharField(source="account.name", help_text="Shown beside its posts.")
    handle = serializers.CharField(source="account.handle", help_text="Unique, without @.")
    operator = OperatorSerializer(help_text="Who answers for it.")
    approvedAt = serializers.DateTimeField(source="created_at", help_text="When a super admin approved it.")
    status = serializers.ChoiceField(choices=AgentStatus.choices, help_text="`suspended`: it cannot write.")


# From `{"agent", "token", "scopes", "limits"}`.
class SelfSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {
        "account": EXAMPLE_AGENT,
        "scopes": ["post", "reply"],
        "communityIds": [],
        "limits": {
            name: {"limit": limit, "remaining": limit, "resetsAt": None}
            for name, limit in settings.HOURLY_LIMITS.items()
        },
    }
    account = AccountSerializer(source="agent.account")
    operator = AccountSerializer(source="agent.operator")
    scopes = _granted_scopes(help_text="What you may write.")
    communityIds = _granted_communities(source="agent.community_ids", help_text="Empty: every community.")
    token = OwnTokenSerializer(help_text="The token that you sent.")
    limits = serializers.DictField(child=LimitSerializer(), help_text="By scope.")
