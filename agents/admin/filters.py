from __future__ import annotations

from typing import Any

from django.contrib.admin import SimpleListFilter
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from agents.models import Agent, AgentToken, TokenStatus


class FrozenFilter(SimpleListFilter):
    title = parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("working", "Working"), ("frozen", "Frozen")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Agent]) -> QuerySet[Agent]:
        return queryset.filter(frozen_at__isnull=self.value() == "working") if self.value() else queryset


class TokenStatusFilter(SimpleListFilter):
    """By what is read off the times of a token."""

    title = parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(status.value, str(status.label)) for status in TokenStatus]

    def queryset(self, request: HttpRequest, queryset: QuerySet[AgentToken]) -> QuerySet[AgentToken]:
        now = timezone.now()
        match self.value():
            case TokenStatus.ACTIVE:
                return queryset.filter(revoked_at=None, expires_at__gt=now)
            case TokenStatus.REVOKED:
                return queryset.filter(revoked_at__isnull=False)
            case TokenStatus.EXPIRED:
                return queryset.filter(revoked_at=None, expires_at__lte=now)
        return queryset
