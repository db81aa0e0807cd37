"""Sessions of people: signed in to the API, and in the panel of embeds.

A session of the API is a short-lived access token, and a refresh token that is revoked on logout. In the panel, a
person signs in once for each site and browser, and the panel gets short user tokens. Such a session is opened by a
sign-in of the last minutes. Neither a user token nor a refreshed sign-in token opens one, so what was stolen for
minutes or hours does not become a session of 30 days.

Nothing else in the service reads the cookie of a panel session. `Partitioned` gives each site that embeds the panel a
cookie of its own, also where the browser blocks cookies of third parties. Browsers accept `Secure` on the plain http
of the local host.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now
from django.http import HttpRequest
from rest_framework_simplejwt.token_blacklist.models import BlacklistedToken, OutstandingToken
from rest_framework_simplejwt.utils import aware_utcnow

from kernel.api import jwt, signing
from kernel.api.exceptions import NotAuthenticated, TokenExpired, TokenRevoked
from kernel.api.jwt import AccessToken, RefreshToken, UserToken
from kernel.database.sql import database_now
from kernel.second_factor import needs_second_factor
from kernel.writes.deletion import delete_in_batches
from kernel.writes.transaction import retried
from messaging.accounts.exceptions import PanelRequired, PanelSessionEnded, RecentSignInRequired, SecondFactorMissing
from messaging.models import Account, AccountKind, PanelSession
from messaging.models.account import LIFETIME, SESSIONS_MAX, PanelSessionQuerySet
from messaging.privacy.exceptions import AccountBeingErased

# With this prefix, browsers refuse a cookie of a subdomain or of plain http.
NAME = "__Host-panel"
GUARD = "X-Community-Panel"
# http.cookies knows `Partitioned` only since Python 3.14.
ATTRIBUTES = "Path=/; Secure; HttpOnly; SameSite=None; Partitioned"
NO_SESSION = "Sign in in the panel first: this operation needs the cookie of its session."


def has_cookie(request: HttpRequest) -> bool:
    return bool(request.COOKIES.get(NAME))


def secret_of(request: HttpRequest) -> str:
    """The value of the cookie; raises NotAuthenticated (401) without one."""
    if not has_cookie(request):
        raise NotAuthenticated(NO_SESSION)
    return request.COOKIES[NAME]


def require_panel(request: HttpRequest) -> None:
    """Refuse what a page of another site makes a browser send. Raises PanelRequired (403)."""
    if not is_of_panel(request):
        raise PanelRequired


def is_of_panel(request: HttpRequest) -> bool:
    """Whether a browser sends it for a page of the widget.

    Scripts of other origins cannot send the header: no preflight allows it. Local demos have two names of one host, so
    the origin may also be that of the request itself.
    """
    own_origins = {settings.APP_URL, f"{request.scheme}://{request.get_host()}"}
    return request.headers.get(GUARD) == "1" and request.headers.get("Origin") in own_origins


def cookie(secret: str) -> dict[str, str]:
    """The header that stores the cookie for LIFETIME."""
    return _header(secret, LIFETIME)


def no_cookie() -> dict[str, str]:
    """The header that deletes the cookie."""
    return _header("", timedelta(0))


def _header(value: str, age: timedelta) -> dict[str, str]:
    return {"Set-Cookie": f"{NAME}={value}; Max-Age={int(age.total_seconds())}; {ATTRIBUTES}"}


BLANK = ""


@dataclass(frozen=True, slots=True)
class SignedIn:
    """The tokens of a new session. `expires_at` is the expiry of the access token."""

    account: Account
    access: str
    refresh: str
    expires_at: datetime


def start_session(*, account: Account) -> SignedIn:
    """Raises AccountBeingErased (403), SecondFactorMissing (401)."""
    require_may_start_session(account)
    refresh = RefreshToken.for_user(account)
    access = _access_token(refresh, account)
    access[jwt.SIGN_IN] = refresh["iat"]
    return SignedIn(account=account, access=str(access), refresh=str(refresh), expires_at=jwt.expiry_of(access))


def require_may_start_session(account: Account) -> None:
    """Raises AccountBeingErased (403), SecondFactorMissing (401)."""
    if account.erasure_due_at is not None:
        raise AccountBeingErased
    if needs_second_factor(account):
        raise SecondFactorMissing


def refresh_session(*, refresh_token: str) -> AccessToken:
    """A new access token; raises a 401 if the refresh token has expired or is revoked, or its person is not active."""
    refresh = jwt.read(RefreshToken, refresh_token)
    if BlacklistedToken.objects.filter(token__jti=refresh["jti"]).exists():
        raise TokenRevoked
    return _access_token(refresh, jwt.person_of(refresh))


@retried
@transaction.atomic
def end_session(*, refresh_token: str) -> None:
    """Revoke a refresh token. Idempotent, also for an expired one."""
    try:
        refresh = jwt.read(RefreshToken, refresh_token)
    except TokenExpired:
        return
    # By the clock of the database, which `prune` compares it with.
    now = database_now()
    times = {"created_at": now, "expires_at": now + (jwt.expiry_of(refresh) - refresh.current_time)}
    outstanding, _created = OutstandingToken.objects.get_or_create(jti=refresh["jti"], defaults=times)
    BlacklistedToken.objects.get_or_create(token=outstanding)


@retried
@transaction.atomic
def end_all_sessions(*, account: Account) -> None:
    """End every token and admin session of the account issued so far."""
    account.end_sessions()
    account.save(update_fields=["sessions_valid_from"])


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """Blank or count tokens stored in clear by an earlier release, which may still run on other hosts."""
    clear = OutstandingToken.objects.exclude(token=BLANK)
    return {"sign-in tokens in clear": clear.count() if dry_run else clear.update(token=BLANK)}


def _access_token(refresh: RefreshToken, account: Account) -> AccessToken:
    access = AccessToken.for_user(account)
    access["exp"] = min(access["exp"], refresh["exp"])
    return access


SECRET_BYTES = 32
# `secrets.token_urlsafe` of SECRET_BYTES. Other texts are refused without a query.
SECRET = re.compile(r"[\w-]{43}\Z", re.ASCII)
RECENT = timedelta(minutes=5)
TOKEN_LIFETIME = timedelta(minutes=15)
WRITTEN_EVERY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class PanelToken:
    """A user token from a session. `renewed`: the 30 days of the session begin again, so the cookie's do too."""

    account: Account
    token: UserToken
    renewed: bool


@retried
@transaction.atomic
def start_panel_session(*, account: Account, signed_in_at: datetime | None) -> str:
    """Open a session; returns the secret for the cookie. Raises RecentSignInRequired (403)."""
    if signed_in_at is None or aware_utcnow() - signed_in_at > RECENT:
        raise RecentSignInRequired
    # Sign-ins of one account wait for each other, so that the number of sessions is exact.
    Account.objects.select_for_update(no_key=True).get(pk=account.pk)
    secret = secrets.token_urlsafe(SECRET_BYTES)
    account.panel_sessions.create(digest=_digest(secret), sessions_valid_from=account.sessions_valid_from)
    latest = account.panel_sessions.order_by("-last_used_at", "-pk").values("pk")[:SESSIONS_MAX]
    account.panel_sessions.exclude(pk__in=latest).delete()
    return secret


def issue_panel_token(*, secret: str) -> PanelToken:
    """A user token of 15 minutes. Raises PanelSessionEnded (401)."""
    session = _sessions(secret).in_use().select_related("account").first()
    if session is None or not _is_valid(session):
        raise PanelSessionEnded
    renewed = PanelSession.objects.filter(pk=session.pk, last_used_at__lt=Now() - WRITTEN_EVERY)
    return PanelToken(
        account=session.account,
        token=jwt.issue_user_token(session.account, lifetime=TOKEN_LIFETIME, is_of_panel=True),
        renewed=bool(renewed.update(last_used_at=Now())),
    )


def end_panel_session(*, secret: str) -> None:
    """Idempotent. The tokens that were issued from the session expire within 15 minutes."""
    _sessions(secret).delete()


def prune_panel_sessions(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """Delete or count the sessions that were not used for 30 days, for the command `prune_panel_sessions`."""
    old = PanelSession.objects.filter(last_used_at__lt=now - LIFETIME)
    return {"unused panel sessions": old.count() if dry_run else delete_in_batches(old)}


def _sessions(secret: str) -> PanelSessionQuerySet:
    if not SECRET.match(secret):
        return PanelSession.objects.none()
    return PanelSession.objects.filter(digest=_digest(secret))


def _is_valid(session: PanelSession) -> bool:
    account = session.account
    is_person = account.is_active and account.kind == AccountKind.HUMAN
    is_valid = is_person and account.sessions_valid_from == session.sessions_valid_from
    return is_valid and not needs_second_factor(account)


def _digest(secret: str) -> bytes:
    return signing.mac(settings.SECRET_KEY, "panel session", secret.encode())
