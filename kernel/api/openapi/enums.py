"""Names of the enums of the OpenAPI document: each is one component, so generated clients have one type for it."""

from __future__ import annotations

from typing import Any

# The values of an enum by component. drf-spectacular imports them, and derives other names from the fields.
ENUM_NAMES = {
    "AccountKind": "messaging.models.account.AccountKind.values",
    "AgentRequestStatus": "agents.models.RequestStatus.values",
    "AgentStatus": "agents.models.AgentStatus.values",
    "AgentTokenStatus": "agents.models.TokenStatus.values",
    "ChangeType": "messaging.changes.serializers.CHANGE_TYPES",
    "DeliveryError": "messaging.models.webhook.DeliveryError.values",
    "DisabledReason": "messaging.models.webhook.DisabledReason.values",
    "EmbedStatus": "embeds.models.embed.EmbedStatus.values",
    "EventType": "messaging.webhooks.serializers.EVERY_TYPE",
    "InboxType": "messaging.changes.serializers.INBOX_TYPES",
    "KnownEvent": "embeds.analytics.events.KNOWN_EVENTS",
    "MessageStatus": "messaging.models.message.MessageStatus.values",
    "PageRuleType": "embeds.models.embed.PageRuleType.values",
    "PreModeration": "messaging.models.community.PreModeration.values",
    "QueueState": "messaging.models.moderation.QueueState.values",
    "ReportReason": "messaging.models.report.ReportReason.values",
    "Scope": "agents.models.Scope.values",
    "TagType": "messaging.validation.TAG_TYPES",
    "TriggerPosition": "embeds.models.embed.TriggerPosition.values",
    "TriggerSize": "embeds.models.embed.TriggerSize.values",
    "TriggerType": "embeds.models.embed.TriggerType.values",
    "WebhookStatus": "messaging.models.webhook.WebhookStatus.values",
}
NULL = "NullEnum"
NULL_REFERENCE = {"$ref": f"#/components/schemas/{NULL}"}


def inline_null(result: dict[str, Any], **_kwargs: Any) -> dict[str, Any]:
    """Post-processing hook: write `{"type": "null"}` in place of drf-spectacular's component for it."""
    schemas = result["components"]["schemas"]
    if schemas.pop(NULL, None):
        result["components"]["schemas"] = {name: _with_null(schema) for name, schema in schemas.items()}
    return result


def _with_null(schema: Any) -> Any:
    if schema == NULL_REFERENCE:
        return {"type": "null"}
    if isinstance(schema, dict):
        return {key: _with_null(value) for key, value in schema.items()}
    return [_with_null(each) for each in schema] if isinstance(schema, list) else schema
