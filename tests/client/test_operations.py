"""The client has a method for every operation of the OpenAPI document but those of other callers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any, NotRequired, get_origin, get_type_hints, is_typeddict

from community_messaging import records

from tests.openapi import document, properties_of, required_of
from tests.service import ROOT

SOURCES = ROOT / "clients/python/src/community_messaging"
# Functions of `community_messaging.requests`, and where their path is.
BUILDERS = {"get": 0, "post": 0, "snake_post": 0, "write": 1}
SUPER_ADMINS = {"approveAgentRequest", "rejectAgentRequest"}
SITE_OWNERS = {
    "createEmbedInstance",
    "deleteEmbedInstance",
    "getEmbedAnalytics",
    "getEmbedBlacklist",
    "getEmbedInstance",
    "listEmbedInstances",
    "putEmbedBlacklist",
    "updateEmbedInstance",
    "addHost",
    "checkHost",
    "listHosts",
    "removeHost",
    "deleteSiteSecret",
    "getSiteTokenCheck",
    "rotateSiteSecret",
}
WIDGETS = {"getEmbedClientConfig", "getEmbedConfig", "ingestAnalyticsEvent"}
WIDGETS |= {"createPanelSession", "createPanelToken", "endPanelSession", "getImportedPost", "getOwnModeration"}
WIDGETS |= {"exchangeSiteToken"}
FEED_READERS = {"getCommunityAtomFeed", "getCommunityJsonFeed", "getPageAtomFeed", "getPageJsonFeed"}
MCP_CLIENTS = {"createClient", "revokeClientToken"}
OF_OTHERS = MCP_CLIENTS | SUPER_ADMINS | SITE_OWNERS | WIDGETS | FEED_READERS
# Read by `follow`, which builds the paths from a channel.
FOLLOWED = {"listChanges", "listInbox", "streamChanges", "streamInbox"}
# Typed dictionaries by the components that they describe.
COMPONENTS = {
    "AgentRequest": "Request",
    "AgentSelf": "Self",
    "AgentToken": "Token",
    "ChangedReaction": "Reaction",
    "CommunityRules": "Rules",
    "NewAgentToken": "CreatedToken",
    "NewWebhook": "CreatedWebhook",
    "RemovedReaction": "Removed",
}
# Those that one component has in a field.
COMPONENTS |= {
    "Consent": "Program.consents",
    "Attachment": "Draft.attachments",
    "DeletedMessage": "Deleted",
    "Delivery": "WebhookWithLog.deliveries",
    "EventData": "Event.data",
    "Limit": "Self.limits",
    "OpenReport": "ModeratedMessage.reports",
    "Operator": "PublicAgent.operator",
    "OwnReaction": "OwnReactions.reactions",
    "PresenceCount": "Presence.counts",
    "RemainingLimit": "DryRun.limits",
    "RuleChanges": "CommunityChanges.rules",
    "SmartTag": "SmartTagList.smartTags",
}
RECORDS = [name for name, value in vars(records).items() if is_typeddict(value)]


def operations() -> Iterator[tuple[str, str, str]]:
    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), re.sub(r"\{\w+\}", "{}", path), operation["operationId"]


def called() -> Iterator[tuple[str, str]]:
    """Method and path of each request that the sources build."""
    for file in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            match node:
                case ast.Call(func=ast.Name(id=builder), args=arguments) if builder in BUILDERS:
                    texts = [argument.value for argument in arguments if isinstance(argument, ast.Constant)]
                    if len(texts) > BUILDERS[builder]:
                        method = texts[0] if builder == "write" else builder.removeprefix("snake_").upper()
                        yield method, re.sub(r"\{\w+\}", "{}", texts[BUILDERS[builder]])


def test_every_operation_has_a_method_or_other_callers() -> None:
    requests = set(called())
    covered = {operation_id for method, path, operation_id in operations() if (method, path) in requests}
    every = {operation_id for *_, operation_id in operations()}
    assert every - covered - OF_OTHERS - FOLLOWED == set()
    assert every >= OF_OTHERS | FOLLOWED
    assert covered & OF_OTHERS == set()


def test_docstrings_name_operations_that_exist() -> None:
    named = {
        name
        for file in (SOURCES / "calls").glob("*.py")
        for found in re.findall(r"\(([a-z]+[A-Z]\w+(?:, \w+)*)(?: with `\w+`)?\)\.", file.read_text())
        for name in found.split(", ")
    }
    assert named - {operation_id for *_, operation_id in operations()} == set()
    assert len(named) > 35


def _schema(component: str, *fields: str) -> dict[str, Any]:
    """The schema of a component, or of the objects in a field of it."""
    schema: dict[str, Any] = document()["components"]["schemas"][component]
    for field in fields:
        schema = properties_of(schema)[field]
        schema = schema.get("items") or schema.get("additionalProperties") or schema.get("oneOf", [schema])[0]
    return schema


def test_a_record_has_the_keys_of_its_component() -> None:
    assert len(RECORDS) > 30
    for name in RECORDS:
        record: Any = getattr(records, name)
        component = _schema(*COMPONENTS.get(name, name).split("."))
        hints = get_type_hints(record, include_extras=True)
        assert set(hints) == set(properties_of(component)), name
        required = {key for key, hint in hints.items() if record.__total__ and get_origin(hint) is not NotRequired}
        assert required == required_of(component), name
