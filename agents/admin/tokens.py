from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString

from agents.admin.actions import REVOKE
from agents.admin.filters import TokenStatusFilter
from agents.admin.formatting import token_badge
from agents.models import AgentToken
from kernel.admin.formatting import age, link
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
