"""Signing in at the OpenID Connect provider of the operator."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import requests
from allauth.account.models import EmailAddress
from allauth.socialaccount.internal.flows.signup import clear_pending_signup, complete_social_signup, get_pending_signup
from allauth.socialaccount.models import SocialLogin
from allauth.socialaccount.providers.base import AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect import views as openid_connect
from allauth.utils import get_request_param
from django.conf import settings
from django.contrib import messages
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from account_area.page import account_page
from account_area.sign_in.forms import ProviderSignUpForm
from account_area.sign_in.recent import is_recent
from kernel.api import throttling
from kernel.api.addresses import client_network
from messaging.accounts.exceptions import RegistrationClosed
from messaging.accounts.services import create_person
from messaging.models import Account


@account_page(signed_in=False, methods=("POST",))
def begin(request: HttpRequest, provider_id: str) -> HttpResponse:
    """A page that goes on to the provider: a redirect of the form would need the provider in `form-action`."""
    is_sign_in = get_request_param(request, "process", AuthProcess.LOGIN) == AuthProcess.LOGIN
    if request.user.is_authenticated and not is_sign_in and not is_recent(request):
        # It would connect the account at the provider to the person who is signed in.
        return redirect("account_reauthenticate")
    response = _at_provider(request, openid_connect.login, provider_id)
    url = response.headers.get("Location", "")
    if urlsplit(url).netloc:
        return render(request, "account_area/sign_in/provider_redirect.html", {"url": url})
    return response


@account_page(signed_in=False, methods=("GET", "HEAD"))
def callback(request: HttpRequest, provider_id: str) -> HttpResponse:
    return _at_provider(request, openid_connect.callback, provider_id)


@account_page(signed_in=False)
def sign_up(request: HttpRequest) -> HttpResponse:
    """A new person of the provider chooses a handle. An account that exists is never taken over by its address."""
    pending = get_pending_signup(request)
    if pending is None or request.user.is_authenticated:
        return redirect("account_login")
    if not settings.REGISTRATION_OPEN:
        raise RegistrationClosed
    form = ProviderSignUpForm(request.POST or None, initial=_proposed(pending))
    if form.is_valid():
        person = form.carry_out(_register, request=request, pending=pending, fields=form.cleaned_data)
        if person is not None:
            clear_pending_signup(request)
            response: HttpResponse = complete_social_signup(request, pending)
            return response
    return render(request, "account_area/sign_in/provider_sign_up.html", {"form": form, "next": None})


@account_page(signed_in=False)
def failed(request: HttpRequest) -> HttpResponse:
    messages.error(request, _("The sign-in there did not succeed. Try again."))
    return redirect("account_login")


def _at_provider(request: HttpRequest, view: Any, provider_id: str) -> HttpResponse:
    if not settings.SOCIALACCOUNT_PROVIDERS:
        raise Http404
    try:
        response: HttpResponse = view(request, provider_id)
    except (OAuth2Error, requests.RequestException, KeyError, ValueError):
        return failed(request)
    return response


def _register(*, request: HttpRequest, pending: SocialLogin, fields: dict[str, Any]) -> Account:
    throttling.hit("register", client_network(request))
    person = create_person(handle=fields["handle"], name=fields["name"], password=None)
    pending.user = person
    # Only what the provider has verified, and no other account has, becomes the address of the new one.
    pending.email_addresses = [row for row in pending.email_addresses if row.verified is True and _is_free(row.email)]
    try:
        with transaction.atomic():
            pending.save(request)
    except IntegrityError:
        raise Http404 from None
    return person


def _is_free(address: str) -> bool:
    return not EmailAddress.objects.filter(email=address.lower(), verified=True).exists()


def _proposed(pending: SocialLogin) -> dict[str, str]:
    data = pending.account.extra_data
    data = data.get("userinfo") or data.get("id_token") or data
    handle = "".join(letter for letter in str(data.get("preferred_username", "")).lower() if letter.isascii())
    return {"handle": handle.replace("-", "_").replace(".", "_")[:30], "name": str(data.get("name", ""))[:60]}
