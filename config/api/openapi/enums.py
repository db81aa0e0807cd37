"""Names of the enums of the OpenAPI document: each is one component, so generated clients have one type for it."""

from __future__ import annotations

from typing import Any

# The values of an enum by component. drf-spectacular imports them, and derives other names from the fields.
ENUM_NAMES = {
    "AccountKindEnum": "messaging.models.account.AccountKind.values",
    "AgentRequestStatusEnum": "agents.models.RequestStatus.values",
    "AgentTokenStatusEnum": "agents.models.TokenStatus.values",
    "DeliveryErrorEnum": "messaging.models.webhook.DeliveryError.values",
    "EmbedStatusEnum": "embeds.models.embed.EmbedStatus.values",
    "KnownEventEnum": "embeds.analytics.events.KNOWN_EVENTS",
    "MessageStatusEnum": "messaging.models.message.MessageStatus.values",
    "PageRuleTypeEnum": "embeds.models.embed.PageRuleType.values",
    "ScopeEnum": "agents.models.Scope.values",
    "TriggerPositionEnum": "embeds.models.embed.TriggerPosition.values",
    "TriggerSizeEnum": "embeds.models.embed.TriggerSize.values",
    "TriggerTypeEnum": "embeds.models.embed.TriggerType.values",
    "WebhookEventEnum": "messaging.serializers.webhooks.EVERY_TYPE",
    "WebhookStatusEnum": "messaging.models.webhook.WebhookStatus.values",
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
