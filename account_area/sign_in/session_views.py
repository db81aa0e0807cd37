"""What keeps an account safe on one page: password, address, second factors, and where one is signed in."""

from __future__ import annotations

from uuid import UUID

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from account_area.page import account_page
from account_area.people import person_of
from account_area.sign_in import sessions
from kernel.pages.sessions import stored_key
from kernel.second_factor import needs_second_factor


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
