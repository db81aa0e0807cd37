"""django-filter for lists, as strict as the other query parameters."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django_filters import rest_framework as filters
from django_filters.fields import ChoiceField
from django_filters.utils import translate_validation

from config.api.exceptions import InvalidInput

# Characters of an invalid value that the error message quotes.
QUOTED_MAX = 40


class StrictChoiceField(ChoiceField):
    def validate(self, value: Any) -> None:
        if value and not self.valid_value(value):
            raise ValidationError(invalid_choice(value))


class ChoiceFilter(filters.ChoiceFilter):
    field_class = StrictChoiceField


class FilterBackend(filters.DjangoFilterBackend):
    """Refuses a filter that is repeated or empty (400); leaves the valid ones in `view.filters` for the cursor."""

    def filter_queryset(self, request: Any, queryset: QuerySet[Any], view: Any) -> QuerySet[Any]:
        # `limit` and `cursor` are validated first: a filter may refuse the client.
        view.query()
        filterset = self.get_filterset(request, queryset, view)
        if filterset is None:
            return queryset
        for name in filterset.filters:
            _check_once(name, request.query_params.getlist(name))
        if not filterset.is_valid():
            raise translate_validation(filterset.errors)  # type: ignore[misc]  # the stubs give it no type
        view.filters = {name: value for name, value in filterset.form.cleaned_data.items() if value}
        filtered: QuerySet[Any] = filterset.qs
        return filtered


def invalid_choice(value: str) -> str:
    return f'"{value[:QUOTED_MAX]}" is not a valid choice.'


def _check_once(name: str, values: list[str]) -> None:
    if len(values) > 1:
        raise InvalidInput(field=name, details="Given more than once.")
    if values == [""]:
        raise InvalidInput(field=name, details={name: [invalid_choice("")]})
