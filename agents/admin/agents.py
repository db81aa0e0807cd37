from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Max, OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from agents.admin.actions import (
    FREEZE,
    NARROW,
    REVOKE,
    REVOKE_ALL,
    UNFREEZE,
    FrozenFilter,
    TokenStatusFilter,
    agent_badge,
    describe_communities,
    describe_scopes,
    summarize_grant,
    token_badge,
)
from agents.admin.requests import active_token_count
from agents.denied_calls import STORED_DAYS, refused_calls
from agents.models import Agent, AgentRequest, AgentToken, Scope
from kernel.admin.audit import log_entries_about
from kernel.admin.formatting import NOTHING, age, ago, lines, link, plain
from kernel.writes.rate_limits import usages_of
from messaging.models import Message
from messaging.moderation.lists.many import ManyRowsAdmin


@admin.register(AgentToken)
class AgentTokenAdmin(ManyRowsAdmin):
    row_actions = (REVOKE,)
    list_display = ["prefix", "state", "of_agent", "label", "created", "expires", "last_used", "revoke_reason"]
    list_filter = [TokenStatusFilter, "expires_at"]
    search_fields = ["prefix", "label", "agent__account__handle"]
    search_help_text = "Part of the token's prefix or label, or of its agent's handle."
    ordering = ["-created_at", "-id"]
    fields = [
        *("state", "prefix", "label", "of_agent", "creator", "created", "expires", "last_used"),
        *("revoked", "revoked_by", "revoke_reason"),
    ]
    readonly_fields = ["of_agent", "state", "created", "creator", "expires", "last_used", "revoked"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[AgentToken]:
        return AgentToken.objects.with_accounts().select_related("created_by", "revoked_by")

    def title_for(self, row: AgentToken) -> str:
        return f"Token {row}"

    def status_text(self, row: AgentToken) -> str:
        return f"of {row.agent}, {row.status}"

    @admin.display(description="agent", ordering="agent__account__handle")
    def of_agent(self, row: AgentToken) -> str | SafeString:
        return link(row.agent)

    @admin.display(description="state")
    def state(self, row: AgentToken) -> SafeString:
        return token_badge(row)

    @admin.display(description="created", ordering="created_at")
    def created(self, row: AgentToken) -> str | SafeString:
        return age(row.created_at)

    @admin.display(description="created by")
    def creator(self, row: AgentToken) -> str | SafeString:
        return link(row.created_by)

    @admin.display(description="expires", ordering="expires_at")
    def expires(self, row: AgentToken) -> str | SafeString:
        return age(row.expires_at)

    @admin.display(description="last used", ordering="last_used_at")
    def last_used(self, row: AgentToken) -> str | SafeString:
        return age(row.last_used_at)

    @admin.display(description="revoked")
    def revoked(self, row: AgentToken) -> str | SafeString:
        return age(row.revoked_at)


TOKENS_SHOWN_MAX = 50
POSTS_SHOWN_MAX = 10
DECISIONS_SHOWN_MAX = 10


@admin.register(Agent)
class AgentAdmin(ManyRowsAdmin):
    row_actions = (FREEZE, UNFREEZE, NARROW, REVOKE_ALL)
    change_form_template = "admin/agents/agent.html"
    list_display = ["account", "state", "operated_by", "grant", "tokens", "last_used", "since"]
    list_filter = [FrozenFilter, "created_at"]
    list_select_related = ["account", "operator"]
    search_fields = ["account__handle", "account__name", "operator__handle"]
    search_help_text = "Part of the agent's handle or name, or of its operator's handle."
    ordering = ["-created_at", "-pk"]
    fields = ["state", "name", "operated_by", "may", "communities", "purpose", "since"]
    readonly_fields = ["name", "operated_by", "state", "may", "communities", "purpose", "since"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Agent]:
        used = (
            AgentToken.objects.filter(agent=OuterRef("pk")).order_by().values("agent").annotate(at=Max("last_used_at"))
        )
        return Agent.objects.select_related("account", "operator", "frozen_by").annotate(
            active_tokens=active_token_count(), used_at=Subquery(used.values("at"))
        )

    def status_text(self, row: Agent) -> str | SafeString:
        if row.frozen_at is None:
            return ""
        return format_html("frozen by {} {}: {}", row.frozen_by, ago(row.frozen_at), row.freeze_reason)

    def extra_context(self, request: HttpRequest, row: Agent) -> dict[str, Any]:
        tokens = list(row.tokens.active_first().defer("digest")[:TOKENS_SHOWN_MAX])
        agent_request = _request_of(row)
        posts = Message.objects.filter(author=row.pk).select_related("community").order_by("-pk")
        related = [row, *tokens, *([agent_request] if agent_request else [])]
        return {
            "status_text": self.status_text(row),
            "tokens": tokens,
            "revoke": REVOKE,
            "posts": posts[:POSTS_SHOWN_MAX],
            "refused": refused_calls(row.pk),
            "refused_days": STORED_DAYS,
            "usages": usages_of(row.pk, Scope.values),
            "log_entries": log_entries_about(related, latest=DECISIONS_SHOWN_MAX),
        }

    @admin.display(description="name", ordering="account__name")
    def name(self, row: Agent) -> str | SafeString:
        return link(row.account, row.account.name)

    @admin.display(description="operator", ordering="operator__handle")
    def operated_by(self, row: Agent) -> str | SafeString:
        return link(row.operator)

    @admin.display(description="state", ordering="frozen_at")
    def state(self, row: Agent) -> SafeString:
        return agent_badge(row)

    @admin.display(description="permissions")
    def may(self, row: Agent) -> str:
        return describe_scopes(row.scopes)

    @admin.display(description="permissions")
    def grant(self, row: Agent) -> str:
        return summarize_grant(row.scopes, row.community_ids)

    @admin.display(description="communities")
    def communities(self, row: Agent) -> str | SafeString:
        return describe_communities(row.community_ids)

    @admin.display(description="active tokens")
    def tokens(self, row: Any) -> int | str:
        return row.active_tokens or "none"

    @admin.display(description="purpose")
    def purpose(self, row: Agent) -> str | SafeString:
        agent_request = _request_of(row)
        if agent_request is None:
            return NOTHING
        return lines([plain(agent_request.purpose), link(agent_request, "agent request")])

    @admin.display(description="last used")
    def last_used(self, row: Any) -> str | SafeString:
        return age(row.used_at)

    @admin.display(description="age", ordering="created_at")
    def since(self, row: Agent) -> str | SafeString:
        return age(row.created_at)


def _request_of(agent: Agent) -> AgentRequest | None:
    return AgentRequest.objects.filter(agent=agent).first()
