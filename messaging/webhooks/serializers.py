"""Bodies and responses of webhooks."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers

from kernel.api.exceptions import InvalidInput
from kernel.api.fields import Choice, Id, ListOf, NullableChoice, NullableText
from kernel.api.openapi.example_values import ID, TIME
from kernel.api.openapi.field_schemas import COMMON_TYPES
from kernel.api.pagination import paginated
from kernel.api.serializers import BodySerializer
from messaging.changes.types import EVENTS_OF_AGENTS, WEBHOOK_CHANGES, InboxType
from messaging.models import DeliveryError, DisabledReason, Webhook, WebhookStatus, WebhookTarget
from messaging.models.webhook import DELIVERIES_SHOWN, URL_MAX, WebhookDelivery
from messaging.serializer_fields import WebUrl

# Nobody signs with it.
EXAMPLE_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"  # noqa: S105
TYPES: dict[WebhookTarget, frozenset[str]] = {
    WebhookTarget.EMBED: WEBHOOK_CHANGES,
    WebhookTarget.AGENT: EVENTS_OF_AGENTS,
}
EVENTS = [event for event in InboxType if event in EVENTS_OF_AGENTS]
EVERY_TYPE = [event_type.value for event_type in (*sorted(WEBHOOK_CHANGES), *EVENTS)]
COMMON_TYPES["EventType"] = {
    "type": "string",
    "enum": EVERY_TYPE,
    "description": "A change, or what happened to an account.",
    "examples": [InboxType.REPLY],
}


class NewWebhook(BodySerializer):
    openapi_example: ClassVar[dict[str, Any]] = {"url": "https://example.com/hook", "agentId": ID, "types": ["reply"]}
    url = WebUrl(
        max_length=URL_MAX,
        help_text="https, on port 443 or from 1024, of a public address.",
    )
    embedId = Id(source="embed_id", required=False, help_text="Your embed: the changes of its community.")
    agentId = Id(source="agent_id", required=False, help_text="Your agent: its inbox.")
    types = ListOf(
        child=Choice(choices=EVERY_TYPE),
        max_length=len(EVERY_TYPE),
        required=False,
        help_text="Of changes for an embed, of inbox events for an agent; empty: all.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """The arguments of `create_webhook`."""
        embed_id, agent_id = attrs.pop("embed_id", None), attrs.pop("agent_id", None)
        if (embed_id is None) == (agent_id is None):
            raise InvalidInput("Send either embedId or agentId.", field="embedId")
        kind = WebhookTarget.AGENT if embed_id is None else WebhookTarget.EMBED
        if not set(attrs.get("types", ())) <= TYPES[kind]:
            raise InvalidInput("Send as types only those in `allowed`.", field="types", allowed=sorted(TYPES[kind]))
        return attrs | {"target_kind": kind, "target_id": embed_id or agent_id}


class WebhookSerializer(serializers.Serializer[Webhook]):
    openapi_example: ClassVar[dict[str, Any]] = {
        "url": "https://example.com/hook",
        "embedId": None,
        "agentId": ID,
        "types": ["reply"],
        "status": "active",
        "disabledReason": None,
        "disabledDetails": None,
        "verifiedAt": TIME,
        "failingSince": None,
        "nextAttemptAt": None,
        "previousSecretUntil": None,
    }
    id = serializers.UUIDField()
    url = serializers.CharField(help_text="The receiver.")
    embedId = serializers.UUIDField(source="embed_id", allow_null=True, help_text="Whose changes are sent.")
    agentId = serializers.UUIDField(source="agent_id", allow_null=True, help_text="Whose inbox is sent.")
    types = serializers.ListField(child=serializers.ChoiceField(choices=EVERY_TYPE), help_text="Empty: all.")
    status = serializers.ChoiceField(choices=WebhookStatus.choices, help_text="`failing`: it is sent again.")
    disabledReason = NullableChoice(
        source="disabled_reason", choices=DisabledReason.choices, help_text="null: not disabled."
    )
    disabledDetails = NullableText(source="disabled_details", help_text="By a super admin.")
    verifiedAt = serializers.DateTimeField(
        source="verified_at",
        allow_null=True,
        help_text="null: the receiver has not answered the challenge, and gets nothing else.",
    )
    failingSince = serializers.DateTimeField(source="failing_since", allow_null=True, help_text="null: not failing.")
    nextAttemptAt = serializers.DateTimeField(
        source="next_attempt_at", allow_null=True, help_text="null: nothing waits."
    )
    previousSecretUntil = serializers.DateTimeField(
        source="previous_secret_until", allow_null=True, help_text="Until then the former one signs too."
    )
    createdAt = serializers.DateTimeField(source="created_at")


WebhookListSerializer = paginated(
    "WebhookListSerializer", webhooks=WebhookSerializer(many=True, help_text="Newest first.")
)


# From `{"webhook", "secret"}`.
class WebhookSecretSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"secret": EXAMPLE_SECRET}
    id = serializers.UUIDField(source="webhook.id")
    secret = serializers.CharField(help_text="Shown in this response only.")
    previousSecretUntil = serializers.DateTimeField(
        source="webhook.previous_secret_until", help_text="Until then the former one signs too."
    )


class CreatedWebhookSerializer(WebhookSerializer):
    openapi_example: ClassVar[dict[str, Any]] = {"secret": EXAMPLE_SECRET}
    secret = serializers.CharField(help_text="Shown in this response only.")


class DeliverySerializer(serializers.Serializer[WebhookDelivery]):
    openapi_example: ClassVar[dict[str, Any]] = {
        "type": "reply",
        "attempt": 1,
        "statusCode": 204,
        "error": None,
        "durationMs": 42,
    }
    eventId = serializers.UUIDField(source="event_id", help_text="In `webhook-id`, after `evt_`, without hyphens.")
    type = serializers.CharField(help_text="Of the event; `webhook.challenge` until the receiver is verified.")
    at = serializers.DateTimeField(help_text="The end of the attempt.")
    attempt = serializers.IntegerField(help_text="From 1.")
    statusCode = serializers.IntegerField(source="status_code", allow_null=True, help_text="null: no response.")
    error = NullableChoice(choices=DeliveryError.choices, help_text="null: delivered.")
    durationMs = serializers.IntegerField(source="duration_ms", help_text="Of the attempt.")


class WebhookWithLogSerializer(WebhookSerializer):
    deliveries = DeliverySerializer(many=True, help_text=f"The last {DELIVERIES_SHOWN}, newest first.")


class TestRequestedSerializer(serializers.Serializer[Any]):
    eventId = serializers.UUIDField(help_text="Of the test event, for the delivery log.")
