"""Second factors: an authenticator app, recovery codes and passkeys.

What the script of the pages asks a passkey, and its answer.
"""

from __future__ import annotations

import base64
import json
from typing import Any

from allauth.mfa.adapter import get_adapter
from allauth.mfa.base.internal.flows import delete_and_cleanup
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.flows import generate_recovery_codes
from allauth.mfa.totp.internal.auth import generate_totp_secret
from allauth.mfa.totp.internal.flows import activate_totp
from allauth.mfa.webauthn.forms import AddWebAuthnForm, AuthenticateWebAuthnForm
from allauth.mfa.webauthn.internal import auth as webauthn
from allauth.mfa.webauthn.internal.flows import add_authenticator
from django.contrib import messages
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from account_area.page import account_page
from account_area.people import person_of
from account_area.sign_in.adapters import AccountAdapter
from account_area.sign_in.forms import CodeForm, PasskeyForm
from account_area.sign_in.recent import recent_sign_in_needed, record_factor
from kernel.api.exceptions import ApiError
from kernel.api.stored_secrets import SecretLost
from messaging.accounts import second_factor
from messaging.accounts.sign_in_limits import count_code
from messaging.accounts.visitors import visitor_of
from messaging.models import Account


def challenge(person: Account | None) -> dict[str, Any]:
    """The options for the browser, as JSON has them; its challenge is stored in the session. None: of any person."""
    plain: dict[str, Any] = json.loads(json.dumps(webauthn.begin_authentication(person), default=dict))
    return plain


def own_challenge(person: Account) -> dict[str, Any] | None:
    """None: the person has no passkey."""
    return challenge(person) if webauthn.get_credentials(person) else None


def answered(form: AuthenticateWebAuthnForm) -> Authenticator | None:
    """The passkey that has answered the challenge; None: no valid one."""
    try:
        if form.is_valid():
            used: Authenticator = form.cleaned_data["credential"]
            return used
    except (ApiError, ArithmeticError, AttributeError, KeyError, LookupError, TypeError, ValueError):
        # The library checks few types of what the browser sends.
        pass
    return None


# The secret of an app that is being set up, encrypted: the rows of sessions are not.
PENDING = "pending_totp"


@account_page
@recent_sign_in_needed
def add_app(request: HttpRequest) -> HttpResponse:
    """Show the secret once, and ask for a code of it."""
    if _rows(request).filter(type=Authenticator.Type.TOTP).exists():
        return redirect("account_security")
    form = CodeForm(request.POST or None)
    form.fields["code"].help_text = _("The six digits that the app shows now.")
    secret = _pending_secret(request)
    if form.is_valid() and form.carry_out(_activate, request=request, form=form, secret=secret):
        return redirect("mfa_view_recovery_codes")
    url = get_adapter().build_totp_url(request.user, secret)
    image = base64.b64encode(get_adapter().build_totp_svg(url).encode()).decode()
    context = {"form": form, "secret": secret, "url": url, "image": f"data:image/svg+xml;base64,{image}"}
    return render(request, "account_area/sign_in/add_app.html", context)


@account_page
@recent_sign_in_needed
def remove(request: HttpRequest, id: int) -> HttpResponse:
    """Remove the app or a passkey. With the last one the recovery codes end too."""
    row = get_object_or_404(_rows(request).exclude(type=Authenticator.Type.RECOVERY_CODES), pk=id)
    if request.method == "POST":
        with transaction.atomic():
            delete_and_cleanup(request, row)
        _tell(request, "mfa/email/totp_deactivated")
        messages.success(request, _("Removed."))
        return redirect("account_security")
    context = {
        "heading": _("Remove this second factor?"),
        "explanation": _("Signing in will not ask for it any more."),
        "button": _("Remove"),
        "back": reverse("account_security"),
        "danger": True,
    }
    return render(request, "account_area/confirm.html", context)


@account_page
@recent_sign_in_needed
def recovery_codes(request: HttpRequest) -> HttpResponse:
    """Show the codes that are left. POST: replace them."""
    row = _rows(request).filter(type=Authenticator.Type.RECOVERY_CODES).first()
    if row is None:
        raise Http404
    if request.method == "POST":
        generate_recovery_codes(request)
        messages.success(request, _("These codes are new. The old ones are not accepted any more."))
        return redirect("mfa_view_recovery_codes")
    codes = "\n".join(row.wrap().get_unused_codes())
    return render(request, "account_area/sign_in/recovery_codes.html", {"codes": codes})


@account_page
@recent_sign_in_needed
def add_passkey(request: HttpRequest) -> HttpResponse:
    form = PasskeyForm(request.POST or None)
    if form.is_valid() and (added := _added_passkey(request, form)):
        return redirect("mfa_view_recovery_codes" if added[1] else "account_security")
    options = json.loads(json.dumps(webauthn.begin_registration(request.user, True), default=dict))
    return render(request, "account_area/sign_in/add_passkey.html", {"form": form, "options": options})


def _added_passkey(request: HttpRequest, form: PasskeyForm) -> tuple[Any, Any] | None:
    """(the passkey, new recovery codes or None), or None with an error in the form."""
    sent = {"name": form.cleaned_data["name"], "credential": form.cleaned_data["credential"], "passwordless": "on"}
    try:
        inner = AddWebAuthnForm(data=sent, user=request.user)
        if inner.is_valid():
            with transaction.atomic():
                name, credential = inner.cleaned_data["name"], inner.cleaned_data["credential"]
                added: tuple[Any, Any] = add_authenticator(request, name=name, credential=credential)
            record_factor(request)
            return added
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        # The library checks few types of what the browser sends.
        pass
    form.add_error(None, _("This passkey was not accepted. Try again."))
    return None


def _activate(*, request: HttpRequest, form: CodeForm, secret: str) -> bool:
    person = person_of(request)
    count_code(account=person, visitor=visitor_of(request, session_of=person.pk))
    step = second_factor.step_of(secret, form.cleaned_data["code"])
    if step is None:
        form.add_error("code", _("This code is wrong. Check that the clock of the device is right."))
        return False
    form.secret = secret  # type: ignore[attr-defined]
    try:
        with transaction.atomic():
            app, _codes = activate_totp(request, form)
            second_factor.mark_used(app, step=step)
    except IntegrityError:
        # The form was sent twice: the first one has set it up.
        return True
    request.session.pop(PENDING, None)
    record_factor(request)
    messages.success(request, _("The app is set up. Store the recovery codes now, apart from your phone."))
    return True


def _pending_secret(request: HttpRequest) -> str:
    stored = request.session.get(PENDING)
    if stored:
        try:
            return second_factor.decrypt(stored)
        except SecretLost:
            pass
    secret: str = generate_totp_secret()
    request.session[PENDING] = second_factor.encrypt(secret)
    return secret


def _tell(request: HttpRequest, name: str) -> None:
    AccountAdapter(request).send_notification_mail(name, request.user)


def _rows(request: HttpRequest) -> Any:
    return Authenticator.objects.filter(user_id=request.user.pk)
