"""Sign-in tokens of people: a short access token, a refresh token that logging out ends, and user tokens.

Of a refresh token nothing is stored until it is logged out, and then only its `jti`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from rest_framework_simplejwt.token_blacklist.models import BlacklistedToken, OutstandingToken

from config.api import jwt
from config.api.exceptions import TokenExpired, TokenRevoked
from config.api.jwt import AccessToken, RefreshToken
from messaging.models import Account

BLANK = ""


@dataclass(frozen=True, slots=True)
class SignedIn:
    """What a sign-in hands out. `expires_at` is the end of the access token."""

    account: Account
    access: str
    refresh: str
    expires_at: datetime


def start_session(*, account: Account) -> SignedIn:
    refresh = RefreshToken.for_user(account)
    access = _access_token(refresh, account)
    return SignedIn(account=account, access=str(access), refresh=str(refresh), expires_at=jwt.expiry_of(access))


def refresh_session(*, refresh_token: str) -> AccessToken:
    """A new access token; raises a 401 for a refresh token that ended, was logged out, or whose person is gone."""
    refresh = jwt.read(RefreshToken, refresh_token)
    if BlacklistedToken.objects.filter(token__jti=refresh["jti"]).exists():
        raise TokenRevoked
    return _access_token(refresh, jwt.person_of(refresh))


@transaction.atomic
def end_session(*, refresh_token: str) -> None:
    """End a refresh token. Ending an ended session is no error."""
    try:
        refresh = jwt.read(RefreshToken, refresh_token)
    except TokenExpired:
        return
    times = {"created_at": refresh.current_time, "expires_at": jwt.expiry_of(refresh)}
    outstanding, _made = OutstandingToken.objects.get_or_create(jti=refresh["jti"], defaults=times)
    BlacklistedToken.objects.get_or_create(token=outstanding)


@transaction.atomic
def end_all_sessions(*, account: Account) -> None:
    """End every token and admin session of the account issued so far."""
    account.end_sessions()
    account.save(update_fields=["sessions_valid_from"])


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """Blank the tokens that an earlier release has stored in clear, and still does while it serves beside this one."""
    clear = OutstandingToken.objects.exclude(token=BLANK)
    return {"sign-in tokens in clear": clear.count() if dry_run else clear.update(token=BLANK)}


def _access_token(refresh: RefreshToken, account: Account) -> AccessToken:
    access = AccessToken.for_user(account)
    access["exp"] = min(access["exp"], refresh["exp"])
    return access
