from __future__ import annotations

from django_filters import rest_framework as filters

from config.api.filters import ChoiceFilter
from embeds.models import EmbedStatus


class EmbedFilter(filters.FilterSet):
    status = ChoiceFilter(choices=EmbedStatus.choices, help_text="Of this status.")
