from __future__ import annotations

from collections.abc import Mapping

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from account_area.comparing import ComparedForm
from mails.kinds import Frequency, Kind

# What "at once" means for the kinds of which much may happen (`mails.kinds.PAUSES`).
PAUSES = {
    Kind.MODERATION: _("At most one mail an hour."),
    Kind.REPORT: _("At most one mail an hour."),
    Kind.ANSWER: _("At most one mail in 10 minutes."),
    Kind.MENTION: _("At most one mail in 10 minutes."),
}


class MailsForm(ComparedForm):
    """A choice for each kind of mail that the person may get."""

    def __init__(self, chosen: Mapping[Kind, Frequency], data: QueryDict | None = None) -> None:
        super().__init__(_values_of(chosen), data)
        for kind in chosen:
            self.fields[kind.value] = forms.ChoiceField(
                label=kind.label,
                choices=Frequency.choices,
                required=False,
                help_text=PAUSES.get(kind, ""),
            )

    def frequencies(self, chosen: Mapping[Kind, Frequency]) -> dict[Kind, Frequency]:
        """The choices that the person has changed; a kind that an older form does not have stays as it is."""
        return {Kind(kind): Frequency(value) for kind, value in self.changes(_values_of(chosen)).items() if value}


def _values_of(chosen: Mapping[Kind, Frequency]) -> dict[str, str]:
    return {kind.value: frequency.value for kind, frequency in chosen.items()}
