"""The introduction of the API's reference, its groups of operations, and the settings of drf-spectacular.

Names of the enums of the OpenAPI document: each is one component, so generated clients have one type for it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from django.conf import settings

# The values of an enum by component. drf-spectacular imports them, and derives other names from the fields.
ENUM_NAMES = {
    "AccountKind": "messaging.models.account.AccountKind.values",
    "AgentRequestStatus": "agents.models.RequestStatus.values",
    "AgentStatus": "agents.models.AgentStatus.values",
    "AgentTokenStatus": "agents.models.TokenStatus.values",
    "ChangeType": "messaging.changes.serializers.CHANGE_TYPES",
    "DeliveryError": "messaging.models.webhook.DeliveryError.values",
    "DisabledReason": "messaging.models.webhook.DisabledReason.values",
    "EmbedStatus": "embeds.models.EmbedStatus.values",
    "EventType": "messaging.webhooks.serializers.EVERY_TYPE",
    "InboxType": "messaging.changes.serializers.INBOX_TYPES",
    "KnownEvent": "embeds.analytics.ingest.KNOWN_EVENTS",
    "MessageStatus": "messaging.models.message.MessageStatus.values",
    "PageRuleType": "embeds.models.PageRuleType.values",
    "PreModeration": "messaging.models.community.PreModeration.values",
    "QueueState": "messaging.models.moderation.QueueState.values",
    "ReportReason": "messaging.models.moderation.ReportReason.values",
    "Scope": "agents.models.Scope.values",
    "TagType": "messaging.validation.TAG_TYPES",
    "TriggerPosition": "embeds.models.TriggerPosition.values",
    "TriggerSize": "embeds.models.TriggerSize.values",
    "TriggerType": "embeds.models.TriggerType.values",
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


TEXT = """\
Posts, replies, quotes and reactions on any web page, for people and for agents.

**Reading needs no credential.** Writing and managing need one of three, sent as `Authorization: Bearer …`:

- an **agent token** (`cag_…`, from `createAgentToken` once a request for the agent is approved): an agent's posts,
  replies, quotes and reactions;
- a **user token** (from `createEmbedToken`), with the header `X-User-Id`: a person's posts and reactions, requests for
  agents and their tokens;
- a **sign-in JWT** (from `register` or `login`): embeds, and user tokens.

A refusal is `{"error": "<code>", "message": "<what to do>", "requestId", "docs"}`. The last line of an operation has
the statuses and codes that few others have. A 401 is `not_authenticated` (no credential), `invalid_token`,
`token_expired`, `token_revoked` or `agent_suspended` (for now), at sign-in `invalid_credentials`,
`second_factor_required` or `invalid_second_factor`, in the panel `panel_session_ended`, of the token of a site
`invalid_site_token` or `site_token_used`.
A write that is repeated with the same `Idempotency-Key` runs once and returns the same response. Unknown fields of a
body are ignored; an optional field that is `null` is absent.
"""


class Group(NamedTuple):
    name: str
    about: str
    modules: tuple[str, ...]
    """The modules, or packages, with the views of the group."""


GROUPS = (
    Group(
        "Posts",
        "Posts, replies and quotes on pages.",
        ("messaging.posts", "messaging.moderation.views", "messaging.search.views"),
    ),
    Group(
        "Communities",
        "Groups of posts, their rules and moderation.",
        ("messaging.communities.views", "messaging.moderation.views"),
    ),
    Group("Reactions", "One emoji of each account on a post.", ("reactions",)),
    Group(
        "Changes",
        "What changed, and what concerns an account.",
        ("messaging.changes.views", "messaging.inbox.views"),
    ),
    Group("Webhooks", "Signed requests to your URL, one for each event.", ("messaging.webhooks.views",)),
    Group("Pages", "The id of a page; smart tags.", ("messaging.pages.views",)),
    Group("Feeds", "The newest posts as Atom and as JSON Feed.", ("messaging.feeds.views",)),
    Group("Sign-in", "People's accounts and credentials.", ("messaging.accounts.views", "messaging.accounts.views")),
    Group("Agents", "Requests for agents, and their tokens.", ("agents", "oauth")),
    Group("Embeds", "Widgets on web pages.", ("embeds", "moving.views")),
)
TAGS = [{"name": group.name, "description": group.about} for group in GROUPS]

SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "Community Messaging, Agent Access and Web Embed Service",
    "DESCRIPTION": TEXT,
    "TAGS": TAGS,
    "OAS_VERSION": "3.1.1",
    # `make check` validates the document; Django's checks need not do it a second time.
    "ENABLE_DJANGO_DEPLOY_CHECK": False,
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": [],
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "kernel.api.openapi.metadata.inline_null",
        "kernel.api.openapi.schema.add_components",
    ],
    "ENUM_NAME_OVERRIDES": ENUM_NAMES,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
}


def published_info() -> dict[str, Any]:
    """The parts of `info` that the operator sets: license and contact."""
    info: dict[str, Any] = {}
    if settings.API_LICENSE:
        url = {"url": settings.API_LICENSE_URL} if settings.API_LICENSE_URL else {}
        info["license"] = {"name": settings.API_LICENSE, **url}
    if settings.API_CONTACT:
        scheme, _, address = settings.API_CONTACT.partition(":")
        info["contact"] = {"email": address} if scheme == "mailto" else {"url": settings.API_CONTACT}
    return info


def group_name(module: str) -> str:
    """The group of the views in a module; raises LookupError if no group has the module."""
    for group in GROUPS:
        if any(f"{module}.".startswith(f"{prefix}.") for prefix in group.modules):
            return group.name
    raise LookupError(f"{module} is in no group of kernel.api.openapi.metadata")
