"""Sign-in sessions of people: a short-lived access token, and a refresh token that is revoked on logout.

A refresh token is stored only on logout, and only its `jti`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from rest_framework_simplejwt.token_blacklist.models import BlacklistedToken, OutstandingToken

from kernel.api import jwt
from kernel.api.exceptions import TokenExpired, TokenRevoked
from kernel.api.jwt import AccessToken, RefreshToken
from kernel.database.sql import database_now
from kernel.second_factor import needs_second_factor
from kernel.writes.retries import retried
from messaging.exceptions import AccountBeingErased, SecondFactorMissing
from messaging.models import Account

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
