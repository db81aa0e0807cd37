from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import F, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.safestring import SafeString

from agents.admin.actions import APPROVE, REJECT
from agents.admin.formatting import describe_communities, describe_scopes, request_badge, summarize_grant
from agents.admin.review import agents_of, confusable_handles, next_pending, other_requests
from agents.models import AgentRequest, RequestStatus
from config.admin.actions import AdminAction
from config.admin.formatting import NOTHING, age, change_url, external_link, link, plain
from config.admin.model_admin import ReadOnlyModelAdmin
from config.admin.queues import QueueSummary


@admin.register(AgentRequest)
class AgentRequestAdmin(ReadOnlyModelAdmin):
    """Lists the pending requests first, oldest first."""

    row_actions = (APPROVE, REJECT)
    change_form_template = "admin/agents/request.html"
    list_display = ["handle", "state", "requested", "requested_by", "grant", "decided"]
    list_display_links = ["handle"]
    list_filter = ["status", "created_at"]
    list_select_related = ["requester", "decided_by"]
    search_fields = ["agent_handle", "agent_name", "requester__handle"]
    search_help_text = "Part of the agent's handle or name, or of the requester's handle."
    ordering = [F("decided_at").desc(), "created_at", "pk"]
    fieldsets = [
        (None, {"fields": ["state", "handle", "agent_name", "purpose_as_text", "site", "requested"]}),
        ("Requested permissions", {"fields": ["permissions", "communities"]}),
        ("Requester", {"fields": ["requested_by", "name", "account_age"]}),
    ]
    readonly_fields = [
        *("handle", "requested_by", "state", "permissions", "requested"),
        *("purpose_as_text", "site", "communities", "name", "account_age"),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[AgentRequest]:
        return AgentRequest.objects.with_accounts()

    def queue_summary(self) -> QueueSummary:
        url = reverse("admin:agents_agentrequest_changelist") + f"?status__exact={RequestStatus.PENDING}"
        return QueueSummary.of("agent requests", AgentRequest.objects.pending(), url)

    def title_for(self, row: AgentRequest) -> str:
        return f"@{row.agent_handle}: {'decide' if row.status == RequestStatus.PENDING else row.status}"

    def status_text(self, row: AgentRequest) -> str:
        if row.decided_by is None or row.decided_at is None:
            return ""
        return f"{row.status} by {row.decided_by} on {row.decided_at:%Y-%m-%d at %H:%M} UTC"

    def extra_context(self, request: HttpRequest, row: AgentRequest) -> dict[str, Any]:
        return {
            "status_text": self.status_text(row),
            "confusable_handles": confusable_handles(row.agent_handle),
            "agents": agents_of(row.requester, exclude=row.agent_id),
            "requests": other_requests(row),
            "next_waiting": next_pending(row),
        }

    def next_url(self, request: HttpRequest, action: AdminAction, row: AgentRequest) -> str:
        following = next_pending(row)
        return change_url(following) if following else reverse("admin:agents_agentrequest_changelist")

    @admin.display(description="handle", ordering="agent_handle")
    def handle(self, row: AgentRequest) -> str:
        return f"@{row.agent_handle}"

    @admin.display(description="requester", ordering="requester__handle")
    def requested_by(self, row: AgentRequest) -> str | SafeString:
        return link(row.requester)

    @admin.display(description="account age")
    def account_age(self, row: AgentRequest) -> str | SafeString:
        return age(row.requester.created_at)

    @admin.display(description="name")
    def name(self, row: AgentRequest) -> str:
        return row.requester.name

    @admin.display(description="state", ordering="status")
    def state(self, row: AgentRequest) -> SafeString:
        return request_badge(row.status)

    @admin.display(description="permissions")
    def permissions(self, row: AgentRequest) -> str:
        return describe_scopes(row.scopes)

    @admin.display(description="permissions")
    def grant(self, row: AgentRequest) -> str:
        return summarize_grant(row.scopes, row.community_ids)

    @admin.display(description="communities")
    def communities(self, row: AgentRequest) -> str | SafeString:
        return describe_communities(row.community_ids)

    @admin.display(description="age", ordering="created_at")
    def requested(self, row: AgentRequest) -> str | SafeString:
        return age(row.created_at)

    @admin.display(description="decided by")
    def decided(self, row: AgentRequest) -> str:
        return str(row.decided_by) if row.decided_by else NOTHING

    @admin.display(description="purpose")
    def purpose_as_text(self, row: AgentRequest) -> str | SafeString:
        return plain(row.purpose)

    @admin.display(description="website")
    def site(self, row: AgentRequest) -> str | SafeString:
        return external_link(row.website)
