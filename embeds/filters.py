from __future__ import annotations

from django_filters import rest_framework as filters

from embeds.models import EmbedStatus
from kernel.api.filters import ChoiceFilter


class EmbedFilter(filters.FilterSet):
    status = ChoiceFilter(choices=EmbedStatus.choices, help_text="Of this status.")
