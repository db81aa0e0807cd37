"""A new password: by the present one, or by a link in a mail.

The optional mail address of a person: it counts when its link was opened.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from uuid import UUID

from allauth.account import app_settings
from allauth.account.internal.flows.login import record_authentication
from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from django.contrib import messages
from django.contrib.auth import login
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from account_area.page import account_page
from account_area.people import person_of
from account_area.sign_in.adapters import AccountAdapter, absolute, send_mail
from account_area.sign_in.forms import AddressForm, ChangePasswordForm, NewPasswordForm
from account_area.sign_in.people import NOBODY, verified_address
from account_area.sign_in.recent import recent_sign_in_needed
from messaging.accounts.exceptions import InvalidCredentials
from messaging.accounts.second_factor import has_second_factor
from messaging.accounts.services import check_password, choose_password
from messaging.accounts.sign_in_limits import count_mail
from messaging.accounts.visitors import remember, visitor_of
from messaging.models import Account, AccountKind


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
        # Two accounts confirm one address at once, and the database lets one of them.
        return False


def _add(*, request: HttpRequest, address: str) -> bool:
    count_mail(address=address, visitor=visitor_of(request, session_of=request.user.pk))
    EmailAddress.objects.filter(user_id=request.user.pk, verified=False).delete()
    if not EmailAddress.objects.filter(user_id=request.user.pk, email=address.lower()).exists():
        EmailAddress.objects.add_new_email(request, request.user, address)
    return True


BACKEND = "django.contrib.auth.backends.ModelBackend"


@account_page(signed_in=False)
def request_reset(request: HttpRequest) -> HttpResponse:
    """Send a link to the person of a verified address. The answer is the same for every address."""
    form = AddressForm(request.POST or None)
    if form.is_valid():
        address = form.cleaned_data["address"]
        if form.carry_out(_send_link, request=request, address=address):
            return render(request, "account_area/sign_in/reset_sent.html", {"address": address})
    return render(request, "account_area/sign_in/reset.html", {"form": form})


@account_page(signed_in=False)
def reset(request: HttpRequest, id: UUID, token: str) -> HttpResponse:
    """Choose a password with the link of a mail. It ends all sessions, and signs nobody in."""
    person = Account.objects.filter(pk=id, kind=AccountKind.HUMAN, is_active=True).first()
    opens = partial(app_settings.PASSWORD_RESET_TOKEN_GENERATOR().check_token, token=token)
    if person is None or not opens(person):
        return _link_ended(request)
    form = NewPasswordForm(request.POST or None)
    if form.is_valid():
        password = form.cleaned_data["password"]
        # The link ends with the first password. Of two presses at once, the second finds it ended under the lock.
        is_chosen = form.carry_out_alone(_choose, person=person, password=password, is_allowed=opens)
        if is_chosen:
            messages.success(request, _("Your password is changed. Sign in with it."))
            response = redirect("account_login")
            # The browser has proved the address, and strangers may have used up the tries of the others.
            person.refresh_from_db()
            remember(response, visitor_of(request), person)
            return response
        if is_chosen is False:
            return _link_ended(request)
    return render(request, "account_area/sign_in/new_password.html", {"form": form, "handle": person.handle})


def _link_ended(request: HttpRequest) -> HttpResponse:
    return render(request, "account_area/sign_in/link_ended.html", {"again": reverse("account_reset_password")})


@account_page
def change(request: HttpRequest) -> HttpResponse:
    person = person_of(request)
    if not person.has_usable_password():
        return _set(request)
    # Without a factor, the present password is the confirmation: the form asks for it.
    return (_change_with_factor if has_second_factor(account=person) else _change)(request)


def _change(request: HttpRequest) -> HttpResponse:
    form = ChangePasswordForm(request.POST or None)
    if form.is_valid() and form.carry_out_alone(_replace, request=request, form=form):
        return _changed(request)
    return render(request, "account_area/sign_in/password.html", {"form": form})


_change_with_factor = recent_sign_in_needed(_change)


@recent_sign_in_needed
def _set(request: HttpRequest) -> HttpResponse:
    """The first password of a person who signs in at a provider."""
    form = NewPasswordForm(request.POST or None)
    if form.is_valid():
        password = form.cleaned_data["password"]
        if form.carry_out_alone(_choose, person=request.user, password=password, is_allowed=_has_none):
            return _changed(request)
    return render(request, "account_area/sign_in/password.html", {"form": form})


def _has_none(person: Account) -> bool:
    return not person.has_usable_password()


def _changed(request: HttpRequest) -> HttpResponse:
    """All sessions have ended: this browser gets a new one."""
    person = person_of(request)
    person.refresh_from_db()
    request.session.flush()
    login(request, person, backend=BACKEND)
    record_authentication(request, person, "password", reauthenticated=True)
    messages.success(request, _("Your password is changed. All other browsers and tokens are signed out."))
    return redirect("account_security")


def _replace(*, request: HttpRequest, form: ChangePasswordForm) -> bool:
    person = person_of(request)
    visitor = visitor_of(request, session_of=person.pk)
    try:
        current = form.cleaned_data["current"]
        checked = check_password(handle=person.handle, password=current, visitor=visitor).password
        is_changed = _choose(
            person=person,
            password=form.cleaned_data["password"],
            # Another change may have committed since: of a stolen password, the reset by its owner.
            is_allowed=lambda locked: locked.password == checked,
        )
    except InvalidCredentials:
        is_changed = False
    if not is_changed:
        form.add_error("current", _("This password is wrong."))
    return is_changed


def _choose(*, person: Account, password: str, is_allowed: Callable[[Account], bool] = lambda _person: True) -> bool:
    if not choose_password(account=person, password=password, is_allowed=is_allowed):
        return False
    row = EmailAddress.objects.get_verified(person)
    if row is not None:
        # With a password that another person chose, nobody can sign in to change it: the link needs no sign-in.
        send_mail("password_changed", row.email, {"url": absolute(reverse("account_reset_password"))})
    return True


def _send_link(*, request: HttpRequest, address: str) -> bool:
    count_mail(address=address, visitor=visitor_of(request))
    row = verified_address(address)
    # A mail for nobody is made too, and not sent, so that the page of an unknown address takes as long.
    person = NOBODY if row is None else row.user
    token = app_settings.PASSWORD_RESET_TOKEN_GENERATOR().make_token(person)
    url = absolute(reverse("account_reset_password_from_key", args=[person.pk, token]))
    send_mail("new_password", "" if row is None else row.email, {"url": url, "handle": person.handle})
    return True
