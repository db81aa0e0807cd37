"""What is granted of what was asked for, or left of what was granted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django import forms

from agents.admin.formatting import SCOPES
from agents.models import Scope
from config.admin.actions import AdminActionForm
from messaging.models import Community

LISTED_MAX = 500


class GrantForm(AdminActionForm):
    """Offers what the row (a request or an agent) holds, all of it ticked."""

    scopes = forms.MultipleChoiceField(
        label="It may", widget=forms.CheckboxSelectMultiple, error_messages={"required": "Leave one at least."}
    )
    community_ids = forms.TypedMultipleChoiceField(
        label="In these communities", coerce=UUID, error_messages={"required": "Leave one at least."}
    )
    field_order = ["scopes", "community_ids", "reason"]

    def __init__(self, *args: Any, row: Any, **kwargs: Any) -> None:
        super().__init__(*args, row=row, **kwargs)
        scopes: Any = self.fields["scopes"]
        scopes.choices = [(scope, SCOPES[Scope(scope)]) for scope in row.scopes]
        scopes.initial = row.scopes
        self._offer_communities(self.fields["community_ids"], row.community_ids)

    def _offer_communities(self, field: Any, held: Sequence[UUID]) -> None:
        known = Community.objects.order_by("name", "pk")
        field.required = bool(held)
        if held:
            names = {community.pk: community.name for community in known.filter(pk__in=held)}
            field.choices = [(pk, names.get(pk, f"unknown: {pk}")) for pk in held]
            field.initial = held
            field.widget = forms.CheckboxSelectMultiple(choices=field.choices)
        else:
            field.choices = list(known.values_list("pk", "name")[:LISTED_MAX])
            field.help_text = "Every community, unless you choose some."
