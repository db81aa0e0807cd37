"""Finds people by what they type, and signs them in."""

from __future__ import annotations

from allauth.account.internal.flows.login import perform_password_login
from allauth.account.models import EmailAddress, Login
from allauth.account.utils import get_next_redirect_url
from django.contrib.auth.hashers import make_password
from django.http import HttpRequest, HttpResponse

from messaging.models import Account, AccountKind
from messaging.models.account import HANDLE_MAX

# For whom mails are made that are not sent. No person can have this handle.
NOBODY = Account(handle="-" * HANDLE_MAX, password=make_password(None))


def verified_address(address: str) -> EmailAddress | None:
    """This verified address of an active person. Its text may differ from what was typed: mail goes to this one."""
    rows = EmailAddress.objects.select_related("user").filter(verified=True)
    return rows.filter(email=address.lower(), user__is_active=True, user__kind=AccountKind.HUMAN).first()


def spelling_of(login: str) -> str:
    """What attempts are counted by: the same for every spelling of one handle, and for every spelling of one address.

    An address is not counted as the handle of its person, which would tell strangers whose it is.
    """
    return login.strip(" @").lower()


def handle_of(login: str) -> str:
    """The handle of the person with this handle or verified address, as `spelling_of` has it; else the same text."""
    row = verified_address(login) if "@" in login else None
    return login if row is None else row.user.handle


def begin_session(request: HttpRequest, person: Account, *, is_new: bool = False) -> HttpResponse:
    """Sign in, or lead to the page of the second factor."""
    login = Login(user=person, redirect_url=next_path(request), signup=is_new)
    response: HttpResponse = perform_password_login(request, {"username": person.handle}, login)
    return response


def next_path(request: HttpRequest) -> str | None:
    """Where to go after a sign-in; None for an address of another site."""
    path: str | None = get_next_redirect_url(request)
    return path
