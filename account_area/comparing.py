"""Forms on something that exists: they save only what was changed, and tell of a change in another tab."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext as _

from account_area.forms import AccountForm
from kernel.admin.edit_conflicts import fingerprint, read, written
from kernel.api.exceptions import ApiError

SHOWN_MAX = 200


class Conflict(ValidationError):
    """Fields were saved with other values after the form was opened."""

    def __init__(self, current: Mapping[str, Any], names: list[str]) -> None:
        super().__init__(_("This was changed elsewhere after you opened the page. Look at it, then save again."))
        self.current, self.names = current, names


class ComparedForm(AccountForm):
    """A form whose hidden field `opened` has fingerprints of the values with which it was opened.

    A conflict is reported once: then the form shows the typed values, and the saved ones of fields that the person has
    not changed.
    """

    opened = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, values: Mapping[str, Any], data: QueryDict | None = None) -> None:
        """`values` are those of the row, as the fields clean them."""
        super().__init__(data, initial={**values, "opened": _fingerprints(values)})

    def changes(self, current: Mapping[str, Any]) -> dict[str, Any]:
        """The values that the person has changed. `current` are those of the row, which has to be locked.

        For a service of `carry_out`, which shows the Conflict that this raises.
        """
        opened = read(self.cleaned_data["opened"])
        typed = {name: self.cleaned_data[name] for name in current}
        conflicts = [
            name
            for name, value in current.items()
            if opened.get(name, fingerprint(value)) != fingerprint(value) != fingerprint(typed[name])
        ]
        if conflicts:
            raise Conflict(current, conflicts)
        return {name: typed[name] for name in self._touched(typed)}

    def _touched(self, typed: Mapping[str, Any]) -> list[str]:
        opened = read(self.cleaned_data["opened"])
        return [name for name, value in typed.items() if fingerprint(value) != opened.get(name, "")]

    def refuse(self, failure: ApiError | ValidationError) -> None:
        if not isinstance(failure, Conflict):
            super().refuse(failure)
            return
        touched = self._touched({name: self.cleaned_data[name] for name in failure.names})
        self.data = data = cast("QueryDict", self.data).copy()
        data["opened"] = _fingerprints(failure.current)
        for name, value in failure.current.items():
            # A field that the older form did not have would show its first choice.
            data.setdefault(name, self.fields[name].prepare_value(value))
        self.add_error(None, failure)
        for name in failure.names:
            saved = self.fields[name].prepare_value(failure.current[name])
            if name in touched:
                self.add_error(name, _("Saved meanwhile: %(value)s") % {"value": self._shown(name, saved)})
            else:
                data[name] = saved
                self.add_error(name, _("Changed meanwhile. The field shows what is saved."))

    def _shown(self, name: str, saved: Any) -> str:
        labels = dict(getattr(self.fields[name], "choices", ()))
        text = ", ".join(str(labels.get(saved, saved)).split("\n"))
        return text if len(text) <= SHOWN_MAX else f"{text[:SHOWN_MAX]}…"


def _fingerprints(values: Mapping[str, Any]) -> str:
    return written({name: fingerprint(value) for name, value in values.items()})
