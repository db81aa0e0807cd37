"""The optional mail address of a person: it counts when its link was opened."""

from __future__ import annotations

from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from django.contrib import messages
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from account_area.page import account_page
from account_area.sign_in.adapters import AccountAdapter
from account_area.sign_in.forms import AddressForm
from account_area.sign_in.recent import recent_sign_in_needed
from messaging.accounts.sign_in_limits import count_mail
from messaging.accounts.visitors import visitor_of


@account_page
@recent_sign_in_needed
def address(request: HttpRequest) -> HttpResponse:
    rows = EmailAddress.objects
    own = rows.filter(user_id=request.user.pk)
    form = AddressForm(request.POST if "address" in request.POST else None)
    if request.method == "POST" and "remove" in request.POST:
        _remove(request, own.filter(verified=False) if request.POST["remove"] == "pending" else own)
        messages.success(request, _("Your mail address is removed."))
        return redirect("account_email")
    if form.is_valid() and form.carry_out(_add, request=request, address=form.cleaned_data["address"]):
        if own.filter(email=form.cleaned_data["address"].lower(), verified=True).exists():
            messages.success(request, _("Your mail address is confirmed."))
        else:
            messages.success(request, _("Open the link in the mail to confirm the address."))
        return redirect("account_email")
    context = {
        "form": form,
        "verified": rows.get_verified(request.user),
        "pending": rows.get_new(request.user),
    }
    return render(request, "account_area/sign_in/address.html", context)


@account_page(signed_in=False)
def confirm_address(request: HttpRequest, key: str) -> HttpResponse:
    """The link of the mail. Programs of mail servers open links too, so a button confirms."""
    confirmation = EmailConfirmationHMAC.from_key(key)
    if confirmation is None:
        return render(request, "account_area/sign_in/link_ended.html", {"again": None})
    if request.method == "POST":
        is_confirmed = _confirm(request, confirmation)
        if is_confirmed is None:
            return render(request, "account_area/sign_in/link_ended.html", {"again": None})
        if is_confirmed:
            messages.success(request, _("Your mail address is confirmed."))
        else:
            messages.error(request, _("Another account has confirmed this address."))
        return redirect("account_email")
    return render(request, "account_area/sign_in/address_check.html", {"address": confirmation.email_address.email})


def _remove(request: HttpRequest, rows: QuerySet[EmailAddress]) -> None:
    """A confirmed address gets a mail: it may have been removed with a stolen session."""
    told = list(rows.filter(verified=True).values_list("email", flat=True))
    rows.delete()
    for email in told:
        AccountAdapter(request).send_notification_mail("account/email/email_deleted", request.user, email=email)


def _confirm(request: HttpRequest, confirmation: EmailConfirmationHMAC) -> bool | None:
    """None: the link has ended. Of presses at once, the others find it ended under the lock."""
    try:
        with transaction.atomic():
            pending = EmailAddress.objects.select_for_update().filter(verified=False)
            row = pending.filter(pk=confirmation.email_address.pk).first()
            return None if row is None else EmailConfirmationHMAC(row).confirm(request) is not None
    except IntegrityError:
        # Of two accounts that confirm one address at once, the database lets one.
        return False


def _add(*, request: HttpRequest, address: str) -> bool:
    count_mail(address=address, visitor=visitor_of(request, session_of=request.user.pk))
    EmailAddress.objects.filter(user_id=request.user.pk, verified=False).delete()
    if not EmailAddress.objects.filter(user_id=request.user.pk, email=address.lower()).exists():
        EmailAddress.objects.add_new_email(request, request.user, address)
    return True
