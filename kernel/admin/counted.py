"""Filters of lists that show how many rows each choice has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.contrib.admin.filters import ChoicesFieldListFilter
from django.contrib.admin.views.main import ChangeList

from kernel.admin.paginator import bounded_count


class CountedChoices(ChoicesFieldListFilter):
    """The counts are of the whole table, without other filters, and bounded: a count ends after COUNTED_MAX rows. So a
    choice needs an index unless most rows have it.
    """

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        shown = super().choices(changelist)
        yield next(shown)
        for (value, _label), choice in zip(self.field.flatchoices, shown, strict=False):
            rows = changelist.model._default_manager.filter(**{self.lookup_kwarg: value})
            choice["display"] = f"{choice['display']} ({bounded_count(rows)})"
            yield choice
