"""django-filter for lists, as strict as the other query parameters."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django_filters import rest_framework as filters
from django_filters.fields import ChoiceField
from django_filters.utils import translate_validation

from kernel.api.exception_handler import choices_at, invalid_input
from kernel.api.exceptions import InvalidParameter

# Characters of an invalid value that the error message quotes.
QUOTED_MAX = 40


class StrictChoiceField(ChoiceField):
    def validate(self, value: Any) -> None:
        if value and not self.valid_value(value):
            # django-filter puts `params` into every message: a `%` of the value must not be in the text.
            quoted = {"value": value[:QUOTED_MAX]}
            raise ValidationError('"%(value)s" is not a valid choice.', code="invalid_choice", params=quoted)


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
            _check_once(name, request.query_params.getlist(name), choices_at(filterset.form, (name,)))
        if not filterset.is_valid():
            invalid: Any = translate_validation(filterset.errors)
            raise invalid_input(invalid.detail, InvalidParameter, filterset.form)
        view.filters = {name: value for name, value in filterset.form.cleaned_data.items() if value}
        filtered: QuerySet[Any] = filterset.qs
        return filtered


def _check_once(name: str, values: list[str], allowed: list[str]) -> None:
    if len(values) > 1:
        raise InvalidParameter(f"Send `{name}` once: it is repeated.", field=name)
    if values == [""]:
        raise InvalidParameter(f"Send a value of `{name}`, or leave it out: it is empty.", field=name, allowed=allowed)
