"""Forms that detect a change of their row after they were opened."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, cast

from django import forms
from django.db.models import Model
from django.http import QueryDict
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

SHOWN_MAX = 10
CHANGED = _("This was changed by another user after you opened the form. Look at the fields below, then save again.")
UNTOUCHED = _("Changed after you opened the form. The field shows what is saved.")


class ConflictCheckedForm(forms.ModelForm):
    """A form with a fingerprint of each value of its row when it was opened; saving compares them with the row.

    Must be cleaned and saved in one transaction: the comparison locks the row. A conflict is reported once; the form
    then shows typed values, and the saved values of fields that the user has not changed.
    """

    opened = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk and not self.instance._state.adding:
            self.initial["opened"] = written(self._fingerprints(self.instance))

    @property
    def changed_columns(self) -> list[str]:
        return [name for name in self.changed_data if name in self._columns]

    @property
    def _columns(self) -> list[str]:
        columns = {field.name for field in self.instance._meta.fields}
        return [name for name in self.fields if name in columns]

    def _get_validation_exclusions(self) -> set[str]:
        """Exclude unchanged fields from validation: an earlier release may have saved them under other rules."""
        excluded: set[str] = super()._get_validation_exclusions()  # type: ignore[misc]  # the stubs lack it
        return excluded if self.instance._state.adding else excluded | (set(self._columns) - set(self.changed_data))

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if not self.instance._state.adding:
            self._compare(dict(cleaned))
        return cleaned

    def _compare(self, typed: Mapping[str, Any]) -> None:
        opened = read(typed.get("opened", ""))
        saved = type(self.instance)._default_manager.select_for_update().get(pk=self.instance.pk)
        current = self._fingerprints(saved)
        changed = [
            name
            for name in self._columns
            if name in typed and opened.get(name, current[name]) != current[name] != fingerprint(typed[name])
        ]
        if not changed:
            return
        self.data = data = cast("QueryDict", self.data).copy()
        data["opened"] = written(current)
        self.add_error(None, CHANGED)
        for name in changed:
            value = self._as_typed(name, saved)
            if fingerprint(typed[name]) == opened[name]:
                data.setlist(name, _sent(self.fields[name].prepare_value(value)))
                self.add_error(name, UNTOUCHED)
            else:
                self.add_error(name, _difference(value, typed[name]))

    def _fingerprints(self, row: Model) -> dict[str, str]:
        return {name: fingerprint(self._as_typed(name, row)) for name in self._columns}

    def _as_typed(self, name: str, row: Model) -> Any:
        """A value of the row as the form parses it when the user does not change it."""
        field: Any = self.fields[name]
        return field.to_python(field.prepare_value(getattr(row, name)))


def fingerprint(value: Any) -> str:
    return sha256(json.dumps(value).encode()).hexdigest()[:16]


def written(fingerprints: Mapping[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in fingerprints.items())


def read(text: str) -> dict[str, str]:
    return {name: value for name, _, value in (part.partition("=") for part in text.split())}


def _sent(shown: Any) -> list[Any]:
    """The values as a browser sends them."""
    if isinstance(shown, bool):
        return ["on"] if shown else []
    return shown if isinstance(shown, list) else [shown]


def _difference(saved: Any, typed: Any) -> str:
    if not isinstance(saved, list):
        return gettext("Changed after you opened the form. Saved is: %(saved)s.") % {"saved": saved}
    more, fewer = (_some([one for one in a if one not in b]) for a, b in ((saved, typed), (typed, saved)))
    text = gettext(
        "Changed after you opened the form. What is saved has %(more)s that yours has not; yours has %(fewer)s that it "
        "has not."
    )
    return text % {"more": more, "fewer": fewer}


def _some(values: list[str]) -> str:
    shown = ", ".join(values[:SHOWN_MAX])
    rest = len(values) - SHOWN_MAX
    more = gettext("%(shown)s and %(rest)s more") % {"shown": shown, "rest": rest}
    return (more if rest > 0 else shown) or gettext("nothing")
