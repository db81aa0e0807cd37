"""Where an attempt to sign in comes from: an address, its network, and a browser that may be known.

A browser is known to the accounts that have signed in with it, by a cookie. The cookie is no credential: it only
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

    def browser_of(self, account_id: UUID) -> str | None:
        """The id of the browser if the account has signed in with it."""
        entries = (ENTRY.fullmatch(entry) for entry in self.cookie.split(".")[:ACCOUNTS_MAX])
        ids = (entry[1] for entry in entries if entry and secrets.compare_digest(entry[2], _mac(entry[1], account_id)))
        return next(ids, None)


def visitor_of(request: HttpRequest, *, session_of: UUID | None = None) -> Visitor:
    cookie = request.COOKIES.get(cookie_name(), "")
    return Visitor(client_network(request), truncated_network(request), cookie, session_of)


def remember(response: HttpResponse, visitor: Visitor, account_id: UUID, *, browser: str = "") -> None:
    """Set the cookie by which this browser is known to the account; `browser`: with this id."""
    browser = browser or visitor.browser_of(account_id) or _text(secrets.token_bytes(ID_BYTES))
    others = [entry for entry in visitor.cookie.split(".") if ENTRY.fullmatch(entry) and not _is_for(entry, account_id)]
    value = ".".join([browser + _mac(browser, account_id), *others][:ACCOUNTS_MAX])
    is_secure = settings.SESSION_COOKIE_SECURE
    response.set_cookie(
        cookie_name(), value, max_age=COOKIE_SECONDS, secure=is_secure, httponly=True, samesite="Lax", path="/"
    )


def cookie_name() -> str:
    return "__Host-known" if settings.SESSION_COOKIE_SECURE else "known"


def browser_from(text: str) -> str:
    """The id that everyone gets who has this text."""
    return _text(signing.mac(settings.SECRET_KEY, "browser", text.encode()))


def _is_for(entry: str, account_id: UUID) -> bool:
    return secrets.compare_digest(entry[22:], _mac(entry[:22], account_id))


def _mac(browser: str, account_id: UUID) -> str:
    return _text(signing.mac(settings.SECRET_KEY, "known browser", browser.encode() + account_id.bytes))


def _text(random: bytes) -> str:
    return urlsafe_b64encode(random[:ID_BYTES]).rstrip(b"=").decode()
