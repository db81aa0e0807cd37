from __future__ import annotations

from django_filters import rest_framework as filters

from embeds.models import EmbedStatus


class EmbedFilter(filters.FilterSet):
    status = filters.ChoiceFilter(choices=EmbedStatus.choices)
