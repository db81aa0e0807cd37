"""The page on which a person chooses which mails arrive, and how often."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from account_area.mails.forms import MailsForm
from account_area.page import account_page
from account_area.people import person_of
from mails import preferences
from mails.addresses import refusal_of, verified_addresses
from messaging.models import Account


@account_page
def mails(request: HttpRequest) -> HttpResponse:
    account = person_of(request)
    if request.method == "POST" and "again" in request.POST:
        preferences.try_address_again(account=account)
        messages.success(request, _("Mails are sent to your address again."))
        return redirect("account_mails")
    form = MailsForm(preferences.preferences_of(account), request.POST if request.method == "POST" else None)
    if form.is_valid():
        form.carry_out(_save, form=form, account=account)
        if not form.errors:
            messages.success(request, _("Your choice is saved."))
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
