"""Forms that change a site: they save only what was changed, and tell of a change in another tab."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, cast

from django import forms
from django.db import transaction
from django.http import QueryDict
from django.utils.translation import gettext as _

from account_area.forms import AccountForm
from account_area.sites.queries import locked
from config.admin.edit_conflicts import fingerprint, read, written
from config.api.serializers import validated
from embeds.models import Embed
from embeds.serializers.inputs import EmbedChanges
from embeds.services import update_embed
from messaging.models import Account

SHOWN_MAX = 200


class EditForm(AccountForm):
    """A form on some fields of an embed. A subclass maps its fields to the API's body: `{field: (part, …)}`.

    The hidden field `opened` has fingerprints of the values with which the form was opened. The comparison with the
    row locks it. A conflict is reported once: then the form shows the typed values, and the saved ones of fields that
    the person has not changed.
    """

    opened = forms.CharField(required=False, widget=forms.HiddenInput)
    # Where a field is in the body of updateEmbedInstance.
    parts: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    def __init__(self, embed: Embed, data: QueryDict | None = None) -> None:
        values = self.values_of(embed)
        super().__init__(
            data, initial=values | {"opened": written({name: fingerprint(values[name]) for name in values})}
        )
        self.embed = embed

    def values_of(self, embed: Embed) -> dict[str, Any]:
        """The values of the row, as the fields clean them."""
        raise NotImplementedError

    def save(self, owner: Account) -> bool:
        """Save the changed fields. False: the form has errors."""
        if not self.is_valid():
            return False
        with transaction.atomic():
            current = self.values_of(locked(self.embed.pk))
            opened = read(self.cleaned_data["opened"])
            changed = [name for name in current if fingerprint(self.cleaned_data[name]) != opened.get(name, "")]
            if conflicts := self._conflicts(current, opened):
                self._report(conflicts, changed, current)
                return False
            self.carry_out(self._update, owner=owner, changed=changed)
        return self.is_valid()

    def _update(self, *, owner: Account, changed: list[str]) -> Embed | None:
        body: dict[str, Any] = {}
        for name in changed:
            *outer, last = self.parts[name]
            target = body
            for part in outer:
                target = target.setdefault(part, {})
            target[last] = self.sent(name, self.cleaned_data[name])
        if not body:
            return None
        return update_embed(embed_id=self.embed.pk, owner=owner, **self.checked(body))

    def sent(self, name: str, value: Any) -> Any:
        """A value of the form as the API takes it."""
        return value

    def checked(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of the service, checked as the API checks them; raises an ApiError."""
        return validated(EmbedChanges, body)

    def _conflicts(self, current: Mapping[str, Any], opened: Mapping[str, str]) -> list[str]:
        """The fields that were saved with other values after the form was opened."""
        return [
            name
            for name, value in current.items()
            if opened.get(name, fingerprint(value)) != fingerprint(value) != fingerprint(self.cleaned_data[name])
        ]

    def _report(self, conflicts: list[str], changed: list[str], current: Mapping[str, Any]) -> None:
        self.data = data = cast("QueryDict", self.data).copy()
        data["opened"] = written({name: fingerprint(value) for name, value in current.items()})
        self.add_error(None, _("This was changed elsewhere after you opened the page. Look at it, then save again."))
        for name in conflicts:
            saved = self.fields[name].prepare_value(current[name])
            if name in changed:
                self.add_error(name, _("Saved meanwhile: %(value)s") % {"value": _short(saved)})
            else:
                data[name] = saved
                self.add_error(name, _("Changed meanwhile. The field shows what is saved."))


def _short(value: Any) -> str:
    text = ", ".join(str(value).split("\n"))
    return text if len(text) <= SHOWN_MAX else f"{text[:SHOWN_MAX]}…"
