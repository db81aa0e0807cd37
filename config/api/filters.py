"""Strict query filters of lists, with django-filter."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django_filters.rest_framework import DjangoFilterBackend
from django_filters.utils import translate_validation

from config.api.exceptions import InvalidInput


class FilterBackend(DjangoFilterBackend):
    """Refuses a filter that is repeated or empty (400); sets the valid ones as `view.filters` for the cursor."""

    def filter_queryset(self, request: Any, queryset: QuerySet[Any], view: Any) -> QuerySet[Any]:
        filterset = self.get_filterset(request, queryset, view)
        if filterset is None:
            return queryset
        for name in filterset.filters:
            _check_once(name, request.query_params.getlist(name))
        if not filterset.is_valid():
            raise translate_validation(filterset.errors)  # type: ignore[misc]  # no exception in the stubs
        view.filters = {name: value for name, value in filterset.form.cleaned_data.items() if value}
        filtered: QuerySet[Any] = filterset.qs
        return filtered


def _check_once(name: str, values: list[str]) -> None:
    if len(values) > 1:
        raise InvalidInput(field=name, details="Given more than once.")
    if values == [""]:
        raise InvalidInput(field=name, details={name: ["Empty."]})
