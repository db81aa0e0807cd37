"""Where an attempt to sign in comes from: an address, its network, and a browser that may be known.

A browser is known to the accounts that have signed in with it, by a cookie, until their sessions end: a new password
ends what a thief of the former one has. The cookie is no credential: it only
decides whose attempts the limits of the sign-in count (`messaging.accounts.sign_in_limits`).
"""

from __future__ import annotations

import re
import secrets
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from kernel.api import signing
from kernel.api.addresses import client_network, truncated_network
from messaging.models import Account

COOKIE_SECONDS = 365 * 24 * 3600
ACCOUNTS_MAX = 5
ID_BYTES = 16
# The id of the browser, which is another one for each account, and the MAC that says for which.
ENTRY = re.compile(r"([\w-]{22})([\w-]{22})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Visitor:
    """`network` is /24 of IPv4 and /48 of IPv6; `session_of` is the person whose session the request has."""

    address: str
    network: str = ""
    cookie: str = ""
    session_of: UUID | None = None

    def browser_of(self, account: Account | None) -> str | None:
        """The id of the browser if the account has signed in with it. For nobody it takes as long."""
        entries = (ENTRY.fullmatch(entry) for entry in self.cookie.split(".")[:ACCOUNTS_MAX])
        ids = (entry[1] for entry in entries if entry and secrets.compare_digest(entry[2], _mac(entry[1], account)))
        return next(ids, None)


def visitor_of(request: HttpRequest, *, session_of: UUID | None = None) -> Visitor:
    cookie = request.COOKIES.get(cookie_name(), "")
    return Visitor(client_network(request), truncated_network(request), cookie, session_of)


def remember(response: HttpResponse, visitor: Visitor, account: Account, *, browser: str = "") -> None:
    """Set the cookie by which this browser is known to the account; `browser`: with this id."""
    browser = browser or visitor.browser_of(account) or _text(secrets.token_bytes(ID_BYTES))
    others = [entry for entry in visitor.cookie.split(".") if ENTRY.fullmatch(entry) and not _is_for(entry, account)]
    value = ".".join([browser + _mac(browser, account), *others][:ACCOUNTS_MAX])
    is_secure = settings.SESSION_COOKIE_SECURE
    response.set_cookie(
        cookie_name(), value, max_age=COOKIE_SECONDS, secure=is_secure, httponly=True, samesite="Lax", path="/"
    )


def cookie_name() -> str:
    return "__Host-known" if settings.SESSION_COOKIE_SECURE else "known"


def browser_from(text: str) -> str:
    """The id that everyone gets who has this text."""
    return _text(signing.mac(settings.SECRET_KEY, "browser", text.encode()))


def _is_for(entry: str, account: Account) -> bool:
    return secrets.compare_digest(entry[22:], _mac(entry[:22], account))


def _mac(browser: str, account: Account | None) -> str:
    since = None if account is None else account.sessions_valid_from
    of_account = f"{account and account.pk} {since and since.timestamp()}"
    return _text(signing.mac(settings.SECRET_KEY, "known browser", f"{browser} {of_account}".encode()))


def _text(random: bytes) -> str:
    return urlsafe_b64encode(random[:ID_BYTES]).rstrip(b"=").decode()
