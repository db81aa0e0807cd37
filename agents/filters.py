from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django_filters import rest_framework as filters

from agents.models import RequestStatus
from kernel.api.exceptions import SuperAdminRequired
from kernel.api.filters import ChoiceFilter


class OwnOrAllFilter(filters.FilterSet):
    """Restricts a list to the caller's rows. `all=1` lists the rows of every person; super admins only (else 403)."""

    request: Any

    all = ChoiceFilter(choices=[("1", "1")], method="unrestricted", help_text="Every person's (super admins).")

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if not self.form.cleaned_data["all"]:
            queryset = self.own(queryset)
        elif not self.request.auth.is_super_admin:
            raise SuperAdminRequired
        return super().filter_queryset(queryset)

    def own(self, queryset: Any) -> Any:
        raise NotImplementedError

    def unrestricted(self, queryset: QuerySet[Any], _name: str, _value: str) -> QuerySet[Any]:
        return queryset


class AgentRequestFilter(OwnOrAllFilter):
    status = ChoiceFilter(choices=RequestStatus.choices, help_text="Of this status.")

    def own(self, queryset: Any) -> Any:
        return queryset.asked_by(self.request.user)


class AgentTokenFilter(OwnOrAllFilter):
    def own(self, queryset: Any) -> Any:
        return queryset.operated_by(self.request.user)
