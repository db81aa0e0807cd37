"""Adds the sign-ins on the pages, and the refused ones, to the log of sign-ins."""

from __future__ import annotations

from typing import Any

from allauth.account.internal.flows.login import get_authentication_records
from allauth.mfa.models import Authenticator
from django.http import HttpRequest

from kernel.api.addresses import truncated_network
from messaging.accounts.sign_ins import log_first_factor, log_sign_in, person_named
from messaging.models import Account, Door, Factor

BY_METHOD = {"password": Factor.PASSWORD, "socialaccount": Factor.PROVIDER}
BY_TYPE = {
    Authenticator.Type.TOTP: Factor.APP,
    Authenticator.Type.RECOVERY_CODES: Factor.RECOVERY_CODE,
    Authenticator.Type.WEBAUTHN: Factor.PASSKEY,
}


def log_session(request: HttpRequest, person: Account) -> None:
    """A session has begun; its data names the factors."""
    factors = _factors_of(request, person)
    first, second = factors[0], factors[1] if len(factors) > 1 else ""
    log_sign_in(account=person, network=truncated_network(request), door=Door.PAGES, first=first, second=second)


def log_first_step(request: HttpRequest, person: Account, first: Factor) -> None:
    """A right password, or that of a provider, whose second factor has not followed yet."""
    log_first_factor(account=person, network=truncated_network(request), door=Door.PAGES, first=first)


def log_wrong_password(request: HttpRequest, handle: str) -> None:
    """Of any handle. An unknown one is not stored, but takes as long."""
    person, network = person_named(handle), truncated_network(request)
    log_sign_in(account=person, network=network, door=Door.PAGES, first=Factor.PASSWORD, refused=True)


def log_wrong_second(request: HttpRequest, person: Account, second: Factor) -> None:
    first, network = _factors_of(request, person)[0], truncated_network(request)
    log_sign_in(account=person, network=network, door=Door.PAGES, first=first, second=second, refused=True)


def log_wrong_passkey(request: HttpRequest) -> None:
    """Of a sign-in by a passkey alone, which names nobody before it is accepted."""
    network = truncated_network(request)
    log_sign_in(account=None, network=network, door=Door.PAGES, first=Factor.PASSKEY, refused=True)


def _factors_of(request: HttpRequest, person: Account) -> list[Factor]:
    """In order; a link in a mail proves as much as the password that it resets."""
    records: list[dict[str, Any]] = get_authentication_records(request, person)
    found = [BY_TYPE.get(row.get("type")) or BY_METHOD.get(row["method"]) for row in records]
    return [factor for factor in found if factor] or [Factor.PASSWORD]
