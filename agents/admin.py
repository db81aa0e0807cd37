"""The super admins' view of agents. Rows are read-only; what can be done is done by the services the API calls too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ActionForm
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from agents.models import Agent, AgentRequest, AgentToken
from agents.models.agent import REASON_MAX
from agents.services import (
    approve_request,
    freeze_agent,
    reject_request,
    revoke_agent_tokens,
    revoke_token,
    unfreeze_agent,
)
from config.api.errors import ApiError


class ReasonForm(ActionForm):
    reason = forms.CharField(max_length=REASON_MAX, required=False, strip=True)


class SuperAdminsOnly(admin.ModelAdmin):
    """Shows rows to super admins, and to other staff not even that they exist."""

    action_form = ReasonForm
    actions_selection_counter = True

    def has_module_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_active and request.user.is_superuser)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.has_module_permission(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def each(self, request: HttpRequest, rows: QuerySet[Any], decide: Callable[..., Any], done: str) -> None:
        """Decide on each row by itself: one that another admin was quicker with does not undo the others."""
        reason = str(request.POST.get("reason", "")).strip()[:REASON_MAX]
        for row in rows:
            try:
                decide(row, by=request.user, reason=reason)
            except ApiError as refusal:
                self.message_user(request, f"{row}: {refusal.code}", messages.ERROR)
            else:
                self.message_user(request, f"{row}: {done}", messages.SUCCESS)


@admin.register(AgentRequest)
class AgentRequestAdmin(SuperAdminsOnly):
    list_display = ["agent_handle", "agent_name", "requester", "status", "scopes", "created_at", "decided_by"]
    list_filter = ["status", "created_at"]
    list_select_related = ["requester", "decided_by"]
    search_fields = ["agent_handle", "agent_name", "requester__handle"]
    ordering = ["-created_at", "-id"]
    actions = ["approve", "reject"]

    @admin.action(description="Approve as asked")
    def approve(self, request: HttpRequest, rows: QuerySet[AgentRequest]) -> None:
        self.each(request, rows, lambda row, **given: approve_request(request_id=row.pk, **given), "approved")

    @admin.action(description="Reject")
    def reject(self, request: HttpRequest, rows: QuerySet[AgentRequest]) -> None:
        self.each(request, rows, lambda row, **given: reject_request(request_id=row.pk, **given), "rejected")


@admin.register(Agent)
class AgentAdmin(SuperAdminsOnly):
    list_display = ["account", "operator", "scopes", "frozen_at", "created_at"]
    list_filter = [("frozen_at", admin.EmptyFieldListFilter), "created_at"]
    list_select_related = ["account", "operator"]
    search_fields = ["account__handle", "account__name", "operator__handle"]
    ordering = ["-created_at", "-pk"]
    actions = ["freeze", "unfreeze", "revoke_tokens"]

    @admin.action(description="Freeze: stop every token at once")
    def freeze(self, request: HttpRequest, rows: QuerySet[Agent]) -> None:
        self.each(request, rows, lambda row, **given: freeze_agent(agent=row, **given), "frozen")

    @admin.action(description="Unfreeze")
    def unfreeze(self, request: HttpRequest, rows: QuerySet[Agent]) -> None:
        self.each(request, rows, lambda row, **given: unfreeze_agent(agent=row, **given), "unfrozen")

    @admin.action(description="Revoke all tokens")
    def revoke_tokens(self, request: HttpRequest, rows: QuerySet[Agent]) -> None:
        self.each(request, rows, lambda row, **given: revoke_agent_tokens(agent=row, **given), "tokens revoked")


@admin.register(AgentToken)
class AgentTokenAdmin(SuperAdminsOnly):
    list_display = ["prefix", "agent", "label", "status", "created_at", "expires_at", "last_used_at", "revoke_reason"]
    list_filter = [("revoked_at", admin.EmptyFieldListFilter), "expires_at"]
    list_select_related = ["agent__account"]
    search_fields = ["prefix", "label", "agent__account__handle"]
    ordering = ["-created_at", "-id"]
    exclude = ["digest"]
    actions = ["revoke"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[AgentToken]:
        return AgentToken.objects.defer("digest")

    @admin.action(description="Revoke")
    def revoke(self, request: HttpRequest, rows: QuerySet[AgentToken]) -> None:
        self.each(request, rows, lambda row, **given: revoke_token(token_id=row.pk, **given), "revoked")
