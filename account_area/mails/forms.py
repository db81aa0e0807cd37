from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from account_area.forms import AccountForm
from mails.kinds import Frequency, Kind

# What "at once" means for the kinds of which much may happen (`mails.kinds.PAUSES`).
PAUSES = {
    Kind.MODERATION: _("At most one mail an hour."),
    Kind.REPORT: _("At most one mail an hour."),
    Kind.ANSWER: _("At most one mail in 10 minutes."),
    Kind.MENTION: _("At most one mail in 10 minutes."),
}


class MailsForm(AccountForm):
    """A choice for each kind of mail that the person may get."""

    def __init__(self, chosen: Mapping[Kind, Frequency], data: Any = None) -> None:
        super().__init__(data)
        for kind, frequency in chosen.items():
            self.fields[kind.value] = forms.ChoiceField(
                label=kind.label,
                choices=Frequency.choices,
                initial=frequency.value,
                required=False,
                help_text=PAUSES.get(kind, ""),
            )

    @property
    def frequencies(self) -> dict[Kind, Frequency]:
        """What the form says; a kind that an older form does not have stays as it is."""
        return {Kind(kind): Frequency(value) for kind, value in self.cleaned_data.items() if value}
