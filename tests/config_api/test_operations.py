"""The declared operations against the contract's tables: callers, scopes, and no undocumented operation."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import pytest
from django.test import Client, override_settings

from kernel.api.credentials import CredentialKind
from kernel.api.operations import all_operations, operation
from kernel.api.requests import Response
from kernel.api.viewsets import ApiViewSet, router
from tests.openapi import document, properties_of, required_of

PUBLIC, AGENT, PERSON, SIGNED_IN = CredentialKind


class Row(NamedTuple):
    id: str
    method: str
    path: str
    callers: set[CredentialKind]
    scopes: str = ""


# The contract's endpoint tables. `optional` there is PUBLIC here: a public read accepts an agent token too.
# People post and react with their user token (decisions 6).
CONTRACT = [
    Row("listMessages", "GET", "/api/messages", {PUBLIC}),
    Row("createMessage", "POST", "/api/messages", {AGENT, PERSON}, "post quote reply"),
    Row("checkMessage", "POST", "/api/messages/check", {AGENT, PERSON}, "post quote reply"),
    Row("getMessage", "GET", "/api/messages/{id}", {PUBLIC}),
    Row("addReaction", "POST", "/v1/reactions", {AGENT, PERSON}, "react"),
    Row("removeReaction", "DELETE", "/v1/reactions/{id}", {AGENT, PERSON}, "react"),
    Row("listReactions", "GET", "/v1/reactions/{id}", {PUBLIC}),
    Row("getEmbedConfig", "GET", "/api/embeds/config/{serviceId}", {PUBLIC}),
    Row("normalizeUrl", "POST", "/v1/presence/normalize-url", {PUBLIC, AGENT}),
    Row("listSmartTags", "GET", "/v1/smart-tags", {PUBLIC}),
    Row("listAgentTokens", "GET", "/v1/agent-tokens", {PERSON}),
    Row("revokeAgentToken", "POST", "/v1/agent-tokens/{id}/revoke", {PERSON}),
    Row("requestAgent", "POST", "/v1/agent-tokens/requests", {PERSON}),
    Row("listAgentRequests", "GET", "/v1/agent-tokens/requests", {PERSON}),
    Row("approveAgentRequest", "POST", "/v1/agent-tokens/requests/{id}/approve", {PERSON}),
    Row("rejectAgentRequest", "POST", "/v1/agent-tokens/requests/{id}/reject", {PERSON}),
    Row("cancelAgentRequest", "POST", "/v1/agent-tokens/requests/{id}/cancel", {PERSON}),
    Row("createAgentToken", "POST", "/v1/agent-tokens/requests/{id}/token", {PERSON}),
    Row("getEmbedClientConfig", "GET", "/api/embeds/client-config", {PUBLIC}),
    Row("ingestAnalyticsEvent", "POST", "/api/embeds/analytics/events", {PUBLIC, AGENT}),
    Row("createEmbedInstance", "POST", "/api/embeds/instances", {SIGNED_IN}),
    Row("listEmbedInstances", "GET", "/api/embeds/instances", {SIGNED_IN}),
    Row("getEmbedInstance", "GET", "/api/embeds/instances/{id}", {SIGNED_IN}),
    Row("updateEmbedInstance", "PUT", "/api/embeds/instances/{id}", {SIGNED_IN}),
    Row("deleteEmbedInstance", "DELETE", "/api/embeds/instances/{id}", {SIGNED_IN}),
    Row("getEmbedAnalytics", "GET", "/api/embeds/analytics/{id}", {SIGNED_IN}),
    Row("getEmbedBlacklist", "GET", "/api/embeds/instances/{id}/blacklist", {SIGNED_IN}),
    Row("putEmbedBlacklist", "PUT", "/api/embeds/instances/{id}/blacklist", {SIGNED_IN}),
]
# Added by decisions: the sign-in flow (6), getAgentSelf (11), reads, own posts and moderation (17), the change log and
# feeds (18), the sessions of the panel (20).
BEYOND = [
    Row("editMessage", "PUT", "/api/messages/{id}", {AGENT, PERSON}, "post quote reply"),
    Row("deleteMessage", "DELETE", "/api/messages/{id}", {AGENT, PERSON}, "post quote reply"),
    Row("reportMessage", "POST", "/api/messages/{id}/report", {PERSON}),
    Row("exchangeSiteToken", "POST", "/api/auth/site-token", {PUBLIC}),
    Row("rotateSiteSecret", "POST", "/api/embeds/instances/{id}/site-secret", {SIGNED_IN}),
    Row("deleteSiteSecret", "DELETE", "/api/embeds/instances/{id}/site-secret", {SIGNED_IN}),
    Row("getSiteTokenCheck", "POST", "/api/embeds/instances/{id}/site-token-check", {SIGNED_IN}),
    Row("searchMessages", "GET", "/v1/search", {PUBLIC}),
    Row("listOwnReactions", "GET", "/v1/me/reactions", {AGENT, PERSON}),
    Row("getPresenceCounts", "POST", "/v1/presence/counts", {PUBLIC, AGENT}),
    Row("listParticipants", "GET", "/v1/presence/participants", {PUBLIC}),
    Row("getImportedPost", "POST", "/v1/imported", {PUBLIC}),
    Row("listCommunities", "GET", "/v1/communities", {PUBLIC}),
    Row("getCommunity", "GET", "/v1/communities/{id}", {PUBLIC}),
    Row("getDiscussion", "GET", "/v1/communities/{id}/pages/{pageId}", {PUBLIC}),
    Row("createCommunity", "POST", "/v1/communities", {PERSON}),
    Row("listModerationQueue", "GET", "/v1/moderation/queue", {PERSON}),
    Row("getOwnModeration", "GET", "/v1/me/moderation", {PERSON}),
    Row("approveMessage", "POST", "/v1/moderation/messages/{id}/approve", {PERSON}),
    Row("hideMessage", "POST", "/v1/moderation/messages/{id}/hide", {PERSON}),
    Row("restoreMessage", "POST", "/v1/moderation/messages/{id}/restore", {PERSON}),
    Row("pinMessage", "POST", "/v1/moderation/messages/{id}/pin", {PERSON}),
    Row("unpinMessage", "DELETE", "/v1/moderation/messages/{id}/pin", {PERSON}),
    Row("closeDiscussion", "POST", "/v1/moderation/communities/{id}/closed", {PERSON}),
    Row("reopenDiscussion", "DELETE", "/v1/moderation/communities/{id}/closed/{pageId}", {PERSON}),
    Row("updateCommunity", "PUT", "/v1/moderation/communities/{id}", {PERSON}),
    Row("addModerator", "POST", "/v1/moderation/communities/{id}/moderators", {PERSON}),
    Row("removeModerator", "DELETE", "/v1/moderation/communities/{id}/moderators/{accountId}", {PERSON}),
    Row("banAccount", "POST", "/v1/moderation/communities/{id}/bans", {PERSON}),
    Row("liftBan", "DELETE", "/v1/moderation/communities/{id}/bans/{accountId}", {PERSON}),
    Row("listHiddenHere", "GET", "/v1/moderation/communities/{id}/hidden", {PERSON}),
    Row("hideHere", "POST", "/v1/moderation/communities/{id}/hidden", {PERSON}),
    Row("showHere", "DELETE", "/v1/moderation/communities/{id}/hidden/{messageId}", {PERSON}),
    Row("listHosts", "GET", "/v1/moderation/communities/{id}/hosts", {PERSON}),
    Row("addHost", "POST", "/v1/moderation/communities/{id}/hosts", {PERSON}),
    Row("checkHost", "POST", "/v1/moderation/communities/{id}/hosts/{host}/check", {PERSON}),
    Row("removeHost", "DELETE", "/v1/moderation/communities/{id}/hosts/{host}", {PERSON}),
    Row("listCommunityEmbeds", "GET", "/v1/moderation/communities/{id}/embeds", {PERSON}),
    Row("endCommunityEmbed", "POST", "/v1/moderation/communities/{id}/embeds/{embedId}/end", {PERSON}),
    Row("getAgent", "GET", "/v1/agents/{handle}", {PUBLIC}),
    Row("setAgentReview", "PUT", "/v1/me/agents/{id}", {PERSON}),
    Row("listAgentDrafts", "GET", "/v1/me/agents/{id}/drafts", {PERSON}),
    Row("releaseDraft", "POST", "/v1/me/agents/{id}/drafts/{messageId}/release", {PERSON}),
    Row("rejectDraft", "POST", "/v1/me/agents/{id}/drafts/{messageId}/reject", {PERSON}),
    Row("deleteAgent", "DELETE", "/v1/agents/{handle}", {PERSON}),
    Row("rotateAgentToken", "POST", "/v1/agent-tokens/{id}/rotate", {PERSON}),
    Row("getAgentRequest", "GET", "/v1/agent-tokens/requests/{id}", {PERSON}),
    Row("getPageAtomFeed", "GET", "/feeds/pages/{pageId}.atom", {PUBLIC}),
    Row("getPageJsonFeed", "GET", "/feeds/pages/{pageId}.json", {PUBLIC}),
    Row("getCommunityAtomFeed", "GET", "/feeds/communities/{slug}.atom", {PUBLIC}),
    Row("getCommunityJsonFeed", "GET", "/feeds/communities/{slug}.json", {PUBLIC}),
    Row("register", "POST", "/api/auth/register", {PUBLIC}),
    Row("login", "POST", "/api/auth/login", {PUBLIC}),
    Row("refreshSession", "POST", "/api/auth/refresh", {PUBLIC}),
    Row("logout", "POST", "/api/auth/logout", {PUBLIC}),
    Row("getMe", "GET", "/api/auth/me", {SIGNED_IN}),
    Row("logoutAll", "POST", "/api/auth/logout-all", {SIGNED_IN}),
    Row("createEmbedToken", "POST", "/api/auth/embed-token", {SIGNED_IN}),
    Row("createPanelSession", "POST", "/api/auth/panel-session", {SIGNED_IN}),
    Row("endPanelSession", "DELETE", "/api/auth/panel-session", {PUBLIC}),
    Row("createPanelToken", "POST", "/api/auth/panel-token", {PUBLIC}),
    Row("createDeviceCode", "POST", "/oauth/device_authorization", {PUBLIC}),
    Row("createToken", "POST", "/oauth/token", {PUBLIC}),
    Row("createClient", "POST", "/oauth/register", {PUBLIC}),
    Row("revokeClientToken", "POST", "/oauth/revoke", {PUBLIC}),
    Row("listPrograms", "GET", "/v1/me/programs", {PERSON}),
    Row("revokeProgram", "DELETE", "/v1/me/programs/{id}", {PERSON}),
    Row("getAgentSelf", "GET", "/v1/agent/self", {AGENT}),
    Row("listChanges", "GET", "/v1/changes", {PUBLIC}),
    Row("streamChanges", "GET", "/v1/changes/stream", {PUBLIC}),
    Row("listInbox", "GET", "/v1/inbox", {AGENT, PERSON}),
    Row("readInbox", "POST", "/v1/inbox/read", {AGENT, PERSON}),
    Row("listOwnMessages", "GET", "/v1/me/messages", {AGENT, PERSON}),
    Row("getPulse", "GET", "/v1/me/pulse", {AGENT, PERSON}),
    Row("streamInbox", "GET", "/v1/inbox/stream", {AGENT, PERSON}),
    Row("listWebhooks", "GET", "/v1/webhooks", {PERSON}),
    Row("createWebhook", "POST", "/v1/webhooks", {PERSON}),
    Row("getWebhook", "GET", "/v1/webhooks/{id}", {PERSON}),
    Row("deleteWebhook", "DELETE", "/v1/webhooks/{id}", {PERSON}),
    Row("testWebhook", "POST", "/v1/webhooks/{id}/test", {PERSON}),
    Row("rotateWebhookSecret", "POST", "/v1/webhooks/{id}/rotate", {PERSON}),
]
ROWS = {row.id: row for row in CONTRACT + BEYOND}
# Not in the OpenAPI document: MCP describes its tools itself. `tests/mcp_server/test_list_tools.py` checks who may call
# which tool; the operations that a tool calls are those above.
GATEWAY = Row("mcp", "POST", "/mcp", {PUBLIC, AGENT, PERSON})


def template(route: str) -> str:
    return "/" + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", route)


def documented() -> dict[str, tuple[str, str, dict[str, Any]]]:
    """{operationId: (method, path, operation)} of the OpenAPI document."""
    rows = [
        (operation["operationId"], method.upper(), path, operation)
        for path, methods in document()["paths"].items()
        for method, operation in methods.items()
    ]
    assert len({name for name, *_rest in rows}) == len(rows), "operation ids are unique"
    return {name: (method, path, operation) for name, method, path, operation in rows}


def test_the_declarations_match_the_tables_of_the_contract() -> None:
    declared = [
        Row(operation.id, method, template(route), set(operation.callers), " ".join(sorted(operation.scopes)))
        for route, method, operation in all_operations()
    ]
    assert len(declared) == len(ROWS) + 1
    assert {row.id: row for row in declared} == ROWS | {GATEWAY.id: GATEWAY}


def test_the_openapi_document_has_exactly_the_declared_operations() -> None:
    assert {name: row[:2] for name, row in documented().items()} == {
        row.id: (row.method, row.path) for row in ROWS.values()
    }


def test_the_document_states_credentials_and_scopes() -> None:
    schemes = {PERSON: {"userToken", "userId"}, SIGNED_IN: {"signInToken"}}
    described = documented()
    for row in ROWS.values():
        # Agents may send their token to a public read, which ignores it.
        expected = [{"agentToken": row.scopes.split()}] if AGENT in row.callers and PUBLIC not in row.callers else []
        expected += [{scheme: [] for scheme in schemes[kind]} for kind in (PERSON, SIGNED_IN) if kind in row.callers]
        # No credential is an empty list: generated clients ask for a token where there is an element.
        assert described[row.id][2]["security"] == expected, row


def test_the_document_states_keys_and_refusals() -> None:
    described = documented()
    for row in ROWS.values():
        operation = described[row.id][2]
        named = {parameter["name"]: parameter for parameter in operation.get("parameters", ())}
        # A read may be a POST.
        takes_keys = row.method != "GET" and PUBLIC not in row.callers and not row.id.startswith("get")
        assert ("Idempotency-Key" in named) == takes_keys, row
        assert not takes_keys or named["Idempotency-Key"]["schema"]["maxLength"] == 160
        statuses = set(operation["responses"])
        assert statuses >= {"401", "403", "429", "503"}, row
        assert not statuses & {"500", "default"}, row
        # A check stores no response, so its key is never in progress.
        of_keys = {"400", "411", "413", "415", "422"} | ({"409"} if row.id != "checkMessage" else set())
        assert statuses >= (of_keys if takes_keys else set()), row
        assert operation["summary"]


def test_the_document_states_the_caps_of_the_contract() -> None:
    schemas = document()["components"]["schemas"]
    post, request = properties_of(schemas["NewMessage"]), schemas["NewRequest"]["properties"]
    assert {name: post[name]["maxLength"] for name in ("content", "anchorText", "language", "sourceApp")} == {
        "content": 20_000,
        "anchorText": 2_000,
        "language": 16,
        "sourceApp": 64,
    }
    assert post["attachments"]["maxItems"] == 20
    assert required_of(schemas["NewMessage"]) == {"pageId"}
    assert (request["agentName"]["minLength"], request["agentName"]["maxLength"]) == (2, 60)
    assert (request["purpose"]["minLength"], request["purpose"]["maxLength"]) == (20, 2000)
    assert request["agentHandle"]["pattern"] == "^[a-z0-9_]{3,30}$"
    assert request["communityIds"]["maxItems"] == 20
    days = schemas["NewToken"]["properties"]["expiresInDays"]
    assert (days["minimum"], days["maximum"], days["default"]) == (1, 365, 90)
    assert schemas["NewToken"]["properties"]["label"]["maxLength"] == 80
    assert schemas["ReasonBody"]["properties"]["reason"]["maxLength"] == 500


def test_a_write_for_agents_must_declare_scopes() -> None:
    with pytest.raises(TypeError, match="must declare their scopes"):

        class Forgetful(ApiViewSet):
            @operation("forgotten", callers={AGENT})
            def create(self, request: Any) -> Response:
                return Response()


class Silent(ApiViewSet):
    def list(self, request: Any) -> Response:
        return Response({})

    def create(self, request: Any) -> Response:
        return Response({})


routes = router()
routes.register("silent", Silent, basename="silent")
urlpatterns = routes.urls


@pytest.mark.django_db
@override_settings(ROOT_URLCONF=__name__)
def test_an_action_without_a_declaration_refuses_every_request() -> None:
    assert [Client().generic(method, "/silent").status_code for method in ("GET", "HEAD", "POST")] == [403] * 3
