from __future__ import annotations

from typing import Any

from django.contrib.admin import SimpleListFilter
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from agents.models import Agent, AgentToken, TokenStatus


class FrozenFilter(SimpleListFilter):
    title = parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [
            ("working", "Working"),
            ("frozen", "Frozen"),
            ("suspended", "Operator suspended"),
            ("leaving", "Operator leaving"),
            ("deleted", "Deleted"),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Agent]) -> QuerySet[Agent]:
        match self.value():
            case "working":
                return queryset.filter(frozen_at=None, operator__is_active=True, account__is_active=True)
            case "frozen":
                return queryset.filter(frozen_at__isnull=False)
            case "suspended":
                return queryset.filter(operator__is_active=False)
            case "leaving":
                return queryset.filter(account__is_active=False, operator__erasure_due_at__isnull=False)
            case "deleted":
                return queryset.filter(account__is_active=False, operator__erasure_due_at=None)
        return queryset


class TokenStatusFilter(SimpleListFilter):
    """Filters by `AgentToken.status`, which is computed and has no column."""

    title = parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(status.value, str(status.label)) for status in TokenStatus]

    def queryset(self, request: HttpRequest, queryset: QuerySet[AgentToken]) -> QuerySet[AgentToken]:
        now = timezone.now()
        valid = Q(revoked_at=None, expires_at__gt=now)
        match self.value():
            case TokenStatus.ACTIVE:
                return queryset.filter(valid).exclude(agent__in=Agent.objects.stopped())
            case TokenStatus.SUSPENDED:
                return queryset.filter(valid, agent__in=Agent.objects.stopped())
            case TokenStatus.REVOKED:
                return queryset.filter(revoked_at__isnull=False)
            case TokenStatus.EXPIRED:
                return queryset.filter(revoked_at=None, expires_at__lte=now)
        return queryset
