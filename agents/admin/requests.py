from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import F, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from agents.admin import queue
from agents.admin.actions import APPROVE, REJECT, UNDO
from agents.admin.formatting import (
    REQUEST_BADGES,
    SCOPES,
    describe_communities,
    describe_request,
    describe_scopes,
    request_badge,
    state_text,
)
from agents.admin.grant import LISTED_MAX, offered_communities
from agents.admin.look_alikes import look_alikes_of
from agents.admin.review import agents_of, next_pending, other_requests, recently_decided
from agents.models import AgentRequest, RequestStatus, Scope
from agents.services.grants import community_names, narrowed_to
from kernel.admin.actions import AdminAction, AdminActionForm
from kernel.admin.counted import CountedChoices
from kernel.admin.formatting import NOTHING, age, ago, badge, change_url, external_link, lines, link, plain
from kernel.admin.queues import QueueSummary
from messaging.models import ReasonFor
from messaging.moderation.lists.deciding import choices_of
from messaging.moderation.lists.lists import DecidingAdmin
from messaging.moderation.lists.saved import came_from, first_found


@admin.register(AgentRequest)
class AgentRequestAdmin(DecidingAdmin):
    """Lists the pending requests first, oldest first."""

    row_actions = (APPROVE, REJECT, UNDO)
    decides = ReasonFor.REQUEST
    change_form_template = "admin/agents/request.html"
    change_list_template = "admin/agents/request_list.html"
    list_display = ["handle", "state", "review", "requested_by", "requested", "warned", "decide"]
    list_display_links = ["handle"]
    list_filter = [("status", CountedChoices), "created_at"]
    csv_columns = {
        "handle": lambda row: row.agent_handle,
        "name": lambda row: row.agent_name,
        "purpose": lambda row: row.purpose,
        "website": lambda row: row.website,
        "permissions": lambda row: " ".join(row.scopes),
        "communities": lambda row: " ".join(map(str, row.community_ids)),
        "granted permissions": lambda row: row.agent and " ".join(row.agent.scopes),
        "granted communities": lambda row: row.agent and " ".join(map(str, row.agent.community_ids)),
        "requester": lambda row: row.requester.handle,
        "status": lambda row: row.status,
        "requested at": lambda row: row.created_at.isoformat(),
        "decided at": lambda row: row.decided_at and row.decided_at.isoformat(),
        "decided by": lambda row: row.decided_by and row.decided_by.handle,
        "reason": lambda row: row.reason,
    }
    list_select_related = ["requester", "decided_by"]
    search_fields = ["agent_handle", "agent_name", "requester__handle"]
    search_help_text = "Part of the agent's handle or name, or of the requester's handle."
    ordering = [F("decided_at").desc(), "created_at", "pk"]
    fieldsets = [
        (None, {"fields": ["state", "handle", "agent_name", "purpose_as_text", "site", "requested"]}),
        ("Requested permissions", {"fields": ["permissions", "communities", "granted"]}),
        ("Requester", {"fields": ["requested_by", "name", "account_age"]}),
    ]
    readonly_fields = [
        *("handle", "requested_by", "state", "permissions", "granted", "requested"),
        *("purpose_as_text", "site", "communities", "name", "account_age"),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[AgentRequest]:
        return AgentRequest.objects.with_accounts()

    def queue_summary(self) -> QueueSummary:
        url = reverse("admin:agents_agentrequest_changelist") + f"?status__exact={RequestStatus.PENDING}"
        return QueueSummary.of("agent requests", AgentRequest.objects.pending(), url)

    def title_for(self, row: AgentRequest) -> str:
        return f"@{row.agent_handle}: {'decide' if row.status == RequestStatus.PENDING else state_text(row)}"

    def status_text(self, row: AgentRequest) -> str | SafeString:
        if row.decided_by is None or row.decided_at is None:
            return ""
        return format_html("{} by {} {}", state_text(row), row.decided_by, ago(row.decided_at))

    def extra_context(self, request: HttpRequest, row: AgentRequest) -> dict[str, Any]:
        return {
            "status_text": self.status_text(row),
            "look_alikes": look_alikes_of([row])[row.pk],
            "grant_form": self._grant_form(request, row) if row.status == RequestStatus.PENDING else None,
            "freeze_url": self._freeze_url(row),
            "agents": agents_of(row.requester, exclude=row.agent_id),
            "requests": other_requests(row),
            "recent": recently_decided(request.user),  # type: ignore[arg-type]  # a super admin
            "next_waiting": first_found(came_from(self, request), partial(next_pending, row)),
        }

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        more = {
            "communities": offered_communities(),
            "listed_max": LISTED_MAX,
            "recent": recently_decided(request.user),  # type: ignore[arg-type]  # a super admin
        }
        return super().changelist_view(request, more | (extra_context or {}))

    def prepare_rows(self, rows: list[Any]) -> None:
        queue.prepare(rows)

    def review_template(self, row: AgentRequest) -> tuple[str, dict[str, Any]]:
        context = {
            "is_pending": row.status == RequestStatus.PENDING,
            "scopes": [(scope, SCOPES[Scope(scope)]) for scope in row.scopes],
            "site": external_link(row.website) if row.website else "",
            "grant": row.grants,  # type: ignore[attr-defined]  # set by `prepare`
        }
        return "admin/agents/request_review.html", context

    def undo_url(self, request: HttpRequest, action: AdminAction, done: dict[Any, datetime | None], reason: str) -> str:
        """The next page offers to undo a single decision by a button."""
        return super().undo_url(request, action, done, reason) if len(done) > 1 else ""

    def state_of(self, row: AgentRequest) -> tuple[str, str]:
        return state_text(row), REQUEST_BADGES.get(RequestStatus(row.status), "")

    def outcome(self, action: AdminAction, row: AgentRequest) -> str:
        decided = AgentRequest.objects.with_accounts().get(pk=row.pk) if action is APPROVE else row
        narrowed = f", {describe_request(decided, _names_of(decided))}" if narrowed_to(decided) else ""
        return super().outcome(action, row) + narrowed

    def instead(self, row: AgentRequest, action: AdminAction) -> tuple[str, str] | None:
        url = self._freeze_url(row)
        return ("Freeze the agent…", url) if url and action is UNDO else None

    def _grant_form(self, request: HttpRequest, row: AgentRequest) -> AdminActionForm:
        return APPROVE.form(row=row, action=APPROVE, initial=choices_of(request, APPROVE))

    def _freeze_url(self, row: AgentRequest) -> str:
        return reverse("admin:agents_agent_freeze", args=[row.agent_id]) if row.agent_id else ""

    def next_url(self, request: HttpRequest, action: AdminAction, row: AgentRequest) -> str:
        if action is UNDO:
            return change_url(row)
        following = next_pending(row, came_from(self, request))
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
        return request_badge(row)

    @admin.display(description="permissions")
    def permissions(self, row: AgentRequest) -> str:
        return describe_scopes(row.scopes)

    @admin.display(description="communities")
    def communities(self, row: AgentRequest) -> str | SafeString:
        return describe_communities(row.community_ids)

    @admin.display(description="granted")
    def granted(self, row: AgentRequest) -> str:
        if row.agent is None:
            return NOTHING
        return describe_request(row, _names_of(row)) if narrowed_to(row) else "as requested"

    @admin.display(description="age", ordering="created_at")
    def requested(self, row: AgentRequest) -> str | SafeString:
        return age(row.created_at)

    @admin.display(description="warnings")
    def warned(self, row: Any) -> str | SafeString:
        return lines([badge(text, kind) for text, kind in row.warnings]) if row.warnings else NOTHING

    @admin.display(description="purpose")
    def purpose_as_text(self, row: AgentRequest) -> str | SafeString:
        return plain(row.purpose)

    @admin.display(description="website")
    def site(self, row: AgentRequest) -> str | SafeString:
        return external_link(row.website)


def _names_of(row: AgentRequest) -> dict[UUID, str]:
    return community_names({*row.community_ids, *(row.agent.community_ids if row.agent else ())})
