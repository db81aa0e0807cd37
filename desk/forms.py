from __future__ import annotations

from typing import Any

from django import forms

from mails.kinds import FOR_SUPER_ADMINS, PAUSES, Frequency, Kind
from mails.preferences import preferences_of
from messaging.models import Account

LABELS = {
    Kind.REQUEST: "New agent requests",
    Kind.REPORT: "Reports of posts, in all communities",
    Kind.HEALTH: "Troubles of the service, and their end",
}
KINDS = [kind for kind in Kind if kind in FOR_SUPER_ADMINS]
FREQUENCIES = {Frequency.OFF: "Never", Frequency.AT_ONCE: "At once", Frequency.DAILY: "Once a day"}


class NoticesForm(forms.Form):
    """How often a super admin gets each kind of mail."""

    def __init__(self, account: Account, data: Any = None) -> None:
        super().__init__(data)
        chosen = preferences_of(account)
        for kind in KINDS:
            pause = PAUSES.get(kind)
            self.fields[kind.value] = forms.ChoiceField(
                label=LABELS.get(kind, kind.label),
                choices=[(frequency.value, label) for frequency, label in FREQUENCIES.items()],
                widget=forms.RadioSelect,
                initial=chosen[kind].value,
                help_text=f"At most one mail in {int(pause.total_seconds() // 60)} minutes." if pause else "",
                show_hidden_initial=True,
            )

    @property
    def frequencies(self) -> dict[Kind, Frequency]:
        """The choices that differ from those with which the form was opened: others may have changed meanwhile."""
        return {Kind(kind): Frequency(self.cleaned_data[kind]) for kind in self.changed_data}
