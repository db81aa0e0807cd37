"""Sign-in tokens of people: a short access token, a refresh token that logging out blacklists, and user tokens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from rest_framework_simplejwt.exceptions import ExpiredTokenError, TokenError
from rest_framework_simplejwt.tokens import AccessToken, RefreshToken

from config.api import jwt
from config.api.errors import InvalidToken, TokenExpired, TokenRevoked
from config.api.ids import is_id
from messaging.models import Account, AccountKind

BLACKLISTED = "Token is blacklisted"


@dataclass(frozen=True, slots=True)
class SignedIn:
    """What a sign-in hands out. `expires_at` is the end of the access token."""

    account: Account
    access: str
    refresh: str
    expires_at: datetime


class LeavingToken(RefreshToken):
    """A refresh token that logs out, for the first time or again."""

    def check_blacklist(self) -> None:
        """Being on the blacklist is where it is going."""


def start_session(*, account: Account) -> SignedIn:
    refresh = RefreshToken.for_user(account)
    access = refresh.access_token
    return SignedIn(account=account, access=str(access), refresh=str(refresh), expires_at=jwt.expiry_of(access))


def refresh_session(*, refresh_token: str) -> AccessToken:
    """A new access token; raises a 401 for a refresh token that ended, was logged out, or whose person is gone."""
    with _token_errors():
        refresh = RefreshToken(refresh_token.encode())  # type: ignore[arg-type]
    subject = str(refresh.payload.get("sub"))
    if not is_id(subject) or not Account.objects.filter(pk=subject, is_active=True, kind=AccountKind.HUMAN).exists():
        raise InvalidToken
    return refresh.access_token


def end_session(*, refresh_token: str) -> None:
    """Blacklist a refresh token. Ending an ended session is no error."""
    try:
        with _token_errors():
            LeavingToken(refresh_token.encode()).blacklist()  # type: ignore[arg-type]
    except TokenExpired:
        return


@contextmanager
def _token_errors() -> Iterator[None]:
    try:
        yield
    except ExpiredTokenError:
        raise TokenExpired from None
    except TokenError as failure:
        # simplejwt has no class of its own for a token that was logged out.
        raise TokenRevoked if str(failure) == BLACKLISTED else InvalidToken from None
    except (ValueError, TypeError, AttributeError, OverflowError):
        raise InvalidToken from None
