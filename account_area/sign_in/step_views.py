"""The second step of a sign-in, and signing in with a passkey alone.

What keeps an account safe on one page: password, address, second factors, and where one is signed in.

For the sign-in window of the panel: whose session this browser has, and a sign-in token for the panel.

The panel itself cannot read the session: it is inside a page of another site, where browsers do not send the cookie.
"""

from __future__ import annotations

from functools import wraps
from typing import Any
from uuid import UUID

from allauth.account.internal.decorators import login_stage_required
from allauth.account.models import EmailAddress, Login
from allauth.mfa.base.internal.flows import post_authentication
from allauth.mfa.models import Authenticator
from allauth.mfa.stages import AuthenticateStage
from allauth.mfa.webauthn.forms import AuthenticateWebAuthnForm, LoginWebAuthnForm
from allauth.mfa.webauthn.internal.flows import perform_passwordless_login
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from account_area.page import account_page
from account_area.people import person_of
from account_area.sign_in import sessions
from account_area.sign_in.factor_views import answered, challenge, own_challenge
from account_area.sign_in.forms import CodeForm
from account_area.sign_in.log import log_wrong_passkey, log_wrong_second
from account_area.sign_in.people import next_path
from account_area.sign_in.recent import View
from kernel.api import throttling
from kernel.api.addresses import client_network
from kernel.api.exceptions import ApiError
from kernel.pages.sessions import stored_key
from kernel.second_factor import needs_second_factor
from messaging.accounts.second_factor import verify_code
from messaging.accounts.services import account_record
from messaging.accounts.sessions import require_may_start_session, start_session
from messaging.accounts.sign_in_limits import count_passkey
from messaging.accounts.visitors import visitor_of
from messaging.models import Account, Factor


@account_page
def security(request: HttpRequest) -> HttpResponse:
    person = person_of(request)
    factors = list(Authenticator.objects.filter(user=person).order_by("pk"))
    context = {
        "address": EmailAddress.objects.get_verified(person),
        "app": next((row for row in factors if row.type == Authenticator.Type.TOTP), None),
        "passkeys": [row for row in factors if row.type == Authenticator.Type.WEBAUTHN],
        "codes": next((row for row in factors if row.type == Authenticator.Type.RECOVERY_CODES), None),
        "needs_factor": needs_second_factor(person),
        "providers": SocialAccount.objects.filter(user=person) if settings.SOCIALACCOUNT_PROVIDERS else (),
        "sessions": sessions.sessions_of(person),
        "panels": sessions.panel_sessions_of(person),
        "own_session": stored_key(request.session.session_key or ""),
    }
    return render(request, "account_area/sign_in/security.html", context)


@account_page(methods=("POST",))
def end_session(request: HttpRequest, key: str) -> HttpResponse:
    sessions.end_session(person_of(request), key)
    messages.success(request, _("This browser is signed out."))
    return redirect("account_security")


@account_page(methods=("POST",))
def end_panel(request: HttpRequest, id: UUID) -> HttpResponse:
    sessions.end_panel(person_of(request), id)
    messages.success(request, _("This panel is signed out."))
    return redirect("account_security")


@account_page(methods=("POST",))
def end_everywhere(request: HttpRequest) -> HttpResponse:
    sessions.end_everywhere(person_of(request))
    logout(request)
    messages.success(request, _("You are signed out everywhere."))
    return redirect("account_login")


HEADERS = {"Cross-Origin-Resource-Policy": "same-origin"}


@account_page(signed_in=False)
def continue_in_panel(request: HttpRequest) -> HttpResponse:
    """GET: `{user, csrf}`; null for nobody, and for a person whom POST refuses.

    POST, by a press of the button: `{accessToken, user}`.
    """
    person = request.user
    if not person.is_authenticated:
        return JsonResponse({"user": None}, headers=HEADERS)
    if request.method != "POST":
        return JsonResponse(_offer(request, person), headers=HEADERS)
    session = start_session(account=person)
    return JsonResponse({"accessToken": session.access, "user": account_record(person)}, headers=HEADERS)


def _offer(request: HttpRequest, person: Account) -> dict[str, Any]:
    try:
        require_may_start_session(person)
    except ApiError:
        return {"user": None}
    return {"user": account_record(person), "csrf": get_token(request)}


# The session of a stranger with the challenge for a passkey ends so soon.
CHALLENGE_SECONDS = 600
NOT_ACCEPTED = gettext_lazy("This passkey was not accepted. Try again, or sign in with your password.")


def _stage_needed(view: View) -> View:
    """Only between a right password and the end of the sign-in; else back to its first step."""
    inner = login_stage_required(stage=AuthenticateStage.key, redirect_urlname="account_login")(view)

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response: HttpResponse = inner(request, *args, **kwargs)
        return response

    return wrapped


@account_page(signed_in=False)
@_stage_needed
def second_step(request: HttpRequest) -> HttpResponse:
    """A code, or a passkey of the person."""
    stage: Any = request._login_stage  # type: ignore[attr-defined]
    person = stage.login.user
    form = CodeForm(request.POST if "code" in request.POST else None)
    used = None
    if "credential" in request.POST:
        used = answered(AuthenticateWebAuthnForm(user=person, data=request.POST))
        if used is None:
            messages.error(request, NOT_ACCEPTED)
            log_wrong_second(request, person, Factor.PASSKEY)
    elif form.is_valid():
        used = form.carry_out(verify_code, account=person, code=form.cleaned_data["code"], visitor=visitor_of(request))
        if used is None and not form.errors:
            log_wrong_second(request, person, Factor.CODE)
            form.add_error("code", _("This code is wrong or was used before."))
    if used is not None:
        post_authentication(request, used)
        response: HttpResponse = stage.exit()
        return response
    context = {"form": form, "options": own_challenge(person)}
    return render(request, "account_area/sign_in/second_step.html", context)


@account_page(signed_in=False)
def sign_in_with_passkey(request: HttpRequest) -> HttpResponse:
    """GET: what the browser's script asks the passkey; POST: its answer."""
    if request.user.is_authenticated:
        return redirect("account")
    if request.method != "POST":
        throttling.hit("session", client_network(request))
        request.session.set_expiry(CHALLENGE_SECONDS)
        return JsonResponse(challenge(None))
    count_passkey(visitor=visitor_of(request))
    used = answered(LoginWebAuthnForm(data=request.POST))
    if used is None:
        messages.error(request, NOT_ACCEPTED)
        log_wrong_passkey(request)
        return redirect("account_login")
    login = Login(user=used.user, redirect_url=next_path(request))
    response: HttpResponse = perform_passwordless_login(request, used, login)
    return response
