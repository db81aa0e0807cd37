"""The handle of an agent in a path."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path, register_converter

from account_area.agents.views import agents, device, drafts, programs, requests, tokens, webhooks
from account_area.agents.views import agents as inbox
from account_area.agents.views import agents as lists

# The path of the form; an agent may have this handle.
RESERVED = "request"


class HandleConverter:
    """A handle. That of an agent called `request` is written `@request`."""

    regex = "@?[a-z0-9_]{3,30}"

    def to_python(self, value: str) -> str:
        return value.removeprefix("@")

    def to_url(self, value: str) -> str:
        return f"@{value}" if value == RESERVED else value


register_converter(HandleConverter, "handle")

of_webhook = [
    path("", webhooks.detail, name="account_agent_webhook"),
    path("test/", webhooks.test, name="account_agent_webhook_test"),
    path("rotate/", webhooks.rotate, name="account_agent_webhook_rotate"),
    path("delete/", webhooks.delete, name="account_agent_webhook_delete"),
]
of_agent: list[URLPattern | URLResolver] = [
    path("", agents.detail, name="account_agent"),
    path("delete/", agents.delete, name="account_agent_delete"),
    path("widen/", requests.widen, name="account_agent_widen"),
    path("inbox/", inbox.of_agent, name="account_agent_inbox"),
    path("drafts/", drafts.drafts, name="account_agent_drafts"),
    path("tokens/", tokens.index, name="account_agent_tokens"),
    path("tokens/new/", tokens.create, name="account_agent_token_new"),
    path("tokens/<uuid:token_id>/rotate/", tokens.rotate, name="account_agent_token_rotate"),
    path("tokens/<uuid:token_id>/revoke/", tokens.revoke, name="account_agent_token_revoke"),
    path("webhooks/", webhooks.index, name="account_agent_webhooks"),
    path("webhooks/new/", webhooks.create, name="account_agent_webhook_new"),
    path("webhooks/<uuid:webhook_id>/", include(of_webhook)),
]
urlpatterns = [
    path("inbox/", inbox.own, name="account_inbox"),
    path("authorize/", programs.authorize, name="account_authorize"),
    path("programs/", programs.index, name="account_programs"),
    path("programs/<uuid:program_id>/revoke/", programs.revoke, name="account_program_revoke"),
    path("device/", device.device, name="account_device"),
    path("agents/", lists.index, name="account_agents"),
    # No handle has a hyphen.
    path("agents/handle-check/", requests.handle_check, name="account_handle_check"),
    path("agents/community-search/", requests.communities, name="account_community_search"),
    path("agents/request/", requests.ask, name="account_agent_ask"),
    path("agents/requests/<uuid:request_id>/", requests.detail, name="account_agent_request"),
    path("agents/requests/<uuid:request_id>/withdraw/", requests.withdraw, name="account_agent_withdraw"),
    path("agents/<handle:handle>/", include(of_agent)),
]
