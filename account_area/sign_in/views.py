"""Signing in, up and out."""

from __future__ import annotations

from typing import Any

from allauth.account.internal.flows.login import record_authentication
from allauth.account.internal.flows.logout import logout
from allauth.mfa.base.internal.flows import post_authentication
from allauth.mfa.webauthn.forms import AuthenticateWebAuthnForm
from allauth.socialaccount.adapter import get_adapter as get_provider_adapter
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from account_area.forms import AccountForm
from account_area.page import account_page
from account_area.people import person_of
from account_area.sign_in.factor_views import answered, own_challenge
from account_area.sign_in.forms import CodeForm, PasswordForm, SignInForm, SignUpForm
from account_area.sign_in.log import log_wrong_password
from account_area.sign_in.people import begin_session, handle_of, next_path, spelling_of
from account_area.sign_in.recent import can_confirm, record_factor
from kernel.api import throttling
from kernel.api.addresses import client_network
from kernel.api.exceptions import ApiError, MethodNotAllowed
from messaging.accounts.exceptions import InvalidCredentials, RegistrationClosed
from messaging.accounts.second_factor import has_second_factor, verify_code
from messaging.accounts.services import check_password, register_person
from messaging.accounts.visitors import visitor_of
from messaging.models import Account


@account_page(signed_in=False)
def sign_in(request: HttpRequest) -> HttpResponse:
    if request.user.is_authenticated:
        return redirect(next_path(request) or settings.LOGIN_REDIRECT_URL)
    form = SignInForm(request.POST or None, initial={"login": request.GET.get("login", "")})
    if form.is_valid():
        person = _person_of(request, form)
        if person is not None:
            return begin_session(request, person)
    return render(request, "account_area/sign_in/sign_in.html", _entrance(request) | {"form": form})


@account_page(signed_in=False)
def sign_up(request: HttpRequest) -> HttpResponse:
    if request.user.is_authenticated:
        return redirect(next_path(request) or settings.LOGIN_REDIRECT_URL)
    if not settings.REGISTRATION_OPEN:
        raise RegistrationClosed
    form = SignUpForm(request.POST or None)
    if form.is_valid():
        person = form.carry_out_alone(_register, request=request, fields=form.cleaned_data)
        if person is not None:
            return begin_session(request, person, is_new=True)
    return render(request, "account_area/sign_in/sign_up.html", _entrance(request) | {"form": form})


@account_page(signed_in=False)
def sign_out(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        raise MethodNotAllowed(allowed=("POST",))
    logout(request, show_message=False)
    messages.success(request, _("You are signed out."))
    return redirect("account_login")


@account_page
def confirm(request: HttpRequest) -> HttpResponse:
    """Ask for the second factor, of a person without one for the password, else for a sign-in at the provider."""
    person = person_of(request)
    target = next_path(request) or reverse("account")
    if not can_confirm(person):
        return redirect(target)
    has_factor = has_second_factor(account=person)
    if not has_factor and not person.has_usable_password():
        return render(request, "account_area/sign_in/confirm.html", _entrance(request))
    form_class: type[CodeForm] | type[PasswordForm] = CodeForm if has_factor else PasswordForm
    is_passkey = "credential" in request.POST
    form = form_class(None if is_passkey else request.POST or None)
    is_confirmed = _has_answered(request) if is_passkey else form.is_valid() and _is_confirmed(request, form)
    if is_confirmed:
        return redirect(target)
    context = {"form": form, "next": next_path(request), "options": own_challenge(person)}
    return render(request, "account_area/sign_in/confirm.html", context)


def _register(*, request: HttpRequest, fields: dict[str, Any]) -> Account:
    throttling.hit("register", client_network(request))
    return register_person(**fields)


def _person_of(request: HttpRequest, form: SignInForm) -> Account | None:
    login, password = spelling_of(form.cleaned_data["login"]), form.cleaned_data["password"]
    handle = handle_of(login)
    try:
        return check_password(handle=handle, password=password, visitor=visitor_of(request), login=login)
    except InvalidCredentials:
        log_wrong_password(request, handle)
        form.add_error(None, _("Handle or password is wrong."))
    except ApiError as failure:
        form.refuse(failure)
    return None


def _is_confirmed(request: HttpRequest, form: CodeForm | PasswordForm) -> bool:
    try:
        is_right = (_is_code if isinstance(form, CodeForm) else _is_password)(request, form)
    except ApiError as failure:
        form.refuse(failure)
        return False
    if not is_right:
        wrong_code = _("This code is wrong or was used before.")
        form.add_error(None, wrong_code if isinstance(form, CodeForm) else _("This password is wrong."))
    return is_right


def _has_answered(request: HttpRequest) -> bool:
    """Whether a passkey of the person has answered."""
    used = answered(AuthenticateWebAuthnForm(user=person_of(request), data=request.POST))
    if used is None:
        messages.error(request, _("The passkey could not be used. Try again, or use a code."))
        return False
    post_authentication(request, used, reauthenticated=True)
    return True


def _is_code(request: HttpRequest, form: AccountForm) -> bool:
    person = person_of(request)
    visitor = visitor_of(request, session_of=person.pk)
    is_right = verify_code(account=person, code=form.cleaned_data["code"], visitor=visitor) is not None
    if is_right:
        record_factor(request)
    return is_right


def _is_password(request: HttpRequest, form: AccountForm) -> bool:
    person = person_of(request)
    visitor = visitor_of(request, session_of=person.pk)
    try:
        check_password(handle=person.handle, password=form.cleaned_data["password"], visitor=visitor)
    except InvalidCredentials:
        return False
    record_authentication(request, person, "password", reauthenticated=True)
    return True


def _entrance(request: HttpRequest) -> dict[str, Any]:
    return {
        "next": next_path(request),
        "registration": settings.REGISTRATION_OPEN,
        "providers": get_provider_adapter().list_providers(request) if settings.SOCIALACCOUNT_PROVIDERS else (),
    }
