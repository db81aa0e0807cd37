"""Changes of the sign-in itself need a password or a sign-in at the provider of the last five minutes.

Of a person with a second factor they need a code or a passkey.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from allauth.account.internal.flows.login import get_authentication_records, record_authentication
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from account_area.people import person_of
from messaging.accounts.second_factor import has_second_factor
from messaging.models import Account

View = Callable[..., HttpResponse]
# The method of allauth's records of codes, recovery codes and passkeys.
OF_FACTORS = "mfa"


def recent_sign_in_needed(view: View) -> View:
    """Decorate a view inside `account_page`: lead to the page that asks again, and back."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if is_recent(request) or not can_confirm(person_of(request)):
            return view(request, *args, **kwargs)
        return redirect(f"{reverse('account_reauthenticate')}?{urlencode({'next': request.path})}")

    return wrapped


def is_recent(request: HttpRequest) -> bool:
    since = time.time() - settings.ACCOUNT_REAUTHENTICATION_TIMEOUT
    records = get_authentication_records(request, request.user)
    methods = {record["method"] for record in records if record["at"] > since}
    # A password alone must not remove the factor that protects against its theft.
    return OF_FACTORS in methods or (bool(methods) and not has_second_factor(account=person_of(request)))


def record_factor(request: HttpRequest) -> None:
    """Record that the person has just proved a second factor."""
    record_authentication(request, person_of(request), OF_FACTORS, reauthenticated=True)


def can_confirm(account: Account) -> bool:
    """Someone of a provider that is switched off has nothing to confirm with here."""
    return account.has_usable_password() or has_second_factor(account=account) or has_provider(account)


def has_provider(account: Account) -> bool:
    return bool(settings.SOCIALACCOUNT_PROVIDERS) and SocialAccount.objects.filter(user=account).exists()
