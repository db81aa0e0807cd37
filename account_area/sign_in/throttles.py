"""Counts attempts by address and by account, for known and unknown people alike."""

from __future__ import annotations

from django.http import HttpRequest

from account_area.sign_in.people import spelling_of
from config.api import throttling
from config.api.addresses import client_network
from messaging.models import Account


def count_sign_in(request: HttpRequest, login: str) -> None:
    """Raises RateLimited (429)."""
    throttling.hit("sign_in", client_network(request))
    throttling.hit("sign_in_account", spelling_of(login))


def count_confirmation(request: HttpRequest, person: Account) -> None:
    """Count a password that is typed in a session of the person.

    No sign-in is counted by a text with an @ in front, so strangers cannot use this count up.
    """
    throttling.hit("sign_in", client_network(request))
    throttling.hit("sign_in_account", f"@{person.pk}")


def count_sign_up(request: HttpRequest) -> None:
    throttling.hit("register", client_network(request))


def count_mail(request: HttpRequest, address: str) -> None:
    throttling.hit("sign_in", client_network(request))
    throttling.hit("password_reset", address.casefold())
