"""Filters of lists whose cost depends neither on the number of communities nor on that of older rows."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import RelatedFieldListFilter
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from messaging.models import Community

LISTED_MAX = 50


class CommunityFilter(RelatedFieldListFilter):
    """Links to the first communities by name, and to the chosen one. The page of a community links to its posts."""

    def field_choices(self, field: Any, request: HttpRequest, model_admin: Any) -> list[tuple[Any, str]]:
        # Without the word lists, which are long.
        communities = Community.objects.order_by("name", "pk").values_list("pk", "name")
        first = list(communities[:LISTED_MAX])
        chosen = {_id_of(field, value) for value in self.lookup_val or ()} - {None, *(pk for pk, _name in first)}
        return [*first, *(communities.filter(pk__in=list(chosen)[:1]) if chosen else ())]


def _id_of(field: Any, value: str) -> Any:
    try:
        return field.target_field.to_python(value)
    except ValidationError:
        # `queryset` refuses the value.
        return None
