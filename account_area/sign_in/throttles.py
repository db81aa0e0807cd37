"""Counts attempts by address and by account, for known and unknown people alike."""

from __future__ import annotations

from django.http import HttpRequest

from config.api import throttling
from config.api.addresses import client_network


def count_sign_in(request: HttpRequest, handle: str) -> None:
    """Raises RateLimited (429)."""
    throttling.hit("sign_in", client_network(request))
    throttling.hit("sign_in_account", handle)


def count_sign_up(request: HttpRequest) -> None:
    throttling.hit("register", client_network(request))


def count_mail(request: HttpRequest, address: str) -> None:
    throttling.hit("sign_in", client_network(request))
    throttling.hit("password_reset", address.casefold())
