"""The form that chooses scopes and communities when a request is approved or an agent is narrowed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django import forms

from agents.admin.formatting import SCOPES
from agents.models import Scope
from kernel.admin.actions import AdminActionForm
from messaging.models import Community

LISTED_MAX = 500
MORE = f" Only the first {LISTED_MAX} by name are listed; the API accepts the ids of the others."


def offered_communities() -> list[tuple[UUID, str]]:
    """The first LISTED_MAX by name, and one more if there are more."""
    return list(Community.objects.order_by("name", "pk").values_list("pk", "name")[: LISTED_MAX + 1])


class GrantForm(AdminActionForm):
    """Offers the scopes and communities of the row (a request or an agent), all selected."""

    scopes = forms.MultipleChoiceField(
        label="Permissions", widget=forms.CheckboxSelectMultiple, error_messages={"required": "Select at least one."}
    )
    community_ids = forms.TypedMultipleChoiceField(
        label="Communities", coerce=UUID, error_messages={"required": "Select at least one."}
    )
    field_order = ["scopes", "community_ids", "reason"]

    def __init__(self, *args: Any, row: Any, **kwargs: Any) -> None:
        super().__init__(*args, row=row, **kwargs)
        scopes: Any = self.fields["scopes"]
        scopes.choices = [(scope, SCOPES[Scope(scope)]) for scope in row.scopes]
        scopes.initial = row.scopes
        self._offer_communities(self.fields["community_ids"], row.community_ids)

    def _offer_communities(self, field: Any, current: Sequence[UUID]) -> None:
        known = Community.objects.order_by("name", "pk")
        field.required = bool(current)
        if current:
            names = {community.pk: community.name for community in known.filter(pk__in=current)}
            field.choices = [(pk, names.get(pk, f"unknown: {pk}")) for pk in current]
            field.initial = current
            field.widget = forms.CheckboxSelectMultiple(choices=field.choices)
        else:
            offered = offered_communities()
            field.choices = offered[:LISTED_MAX]
            field.help_text = "Select none to allow every community." + (MORE if len(offered) > LISTED_MAX else "")
