"""The page on which a person chooses which mails arrive, and how often."""

from __future__ import annotations

from collections.abc import Mapping

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from account_area.comparing import ComparedForm
from account_area.page import account_page
from account_area.people import person_of
from mails import preferences
from mails.addresses import refusal_of, verified_addresses
from mails.kinds import Frequency, Kind
from messaging.models import Account

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


@account_page
def mails(request: HttpRequest) -> HttpResponse:
    account = person_of(request)
    if request.method == "POST" and "again" in request.POST:
        preferences.try_address_again(account=account)
        messages.success(request, gettext("Mails are sent to your address again."))
        return redirect("account_mails")
    form = MailsForm(preferences.preferences_of(account), request.POST if request.method == "POST" else None)
    if form.is_valid():
        form.carry_out(_save, form=form, account=account)
        if not form.errors:
            messages.success(request, gettext("Your choice is saved."))
            return redirect("account_mails")
    address = verified_addresses([account.pk]).get(account.pk)
    context = {
        "form": form,
        "address": address,
        "refusal": refusal_of(account.pk),
        "mail_is_sent": settings.MAIL_IS_SENT,
    }
    return render(request, "account_area/mails/mails.html", context)


def _save(*, form: MailsForm, account: Account) -> None:
    chosen = preferences.lock_preferences(account)
    preferences.set_preferences(account_id=account.pk, frequencies=form.frequencies(chosen))
