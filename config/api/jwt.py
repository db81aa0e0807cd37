"""The two kinds of JWT: a person's user token for pages and agents, and the sign-in tokens for embed owners.

HS256, issuer and audience are fixed in the settings. The kinds are not interchangeable: `token_type` tells them
apart.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth import get_user_model
from rest_framework_simplejwt.exceptions import ExpiredTokenError, TokenError
from rest_framework_simplejwt.tokens import Token, UntypedToken
from rest_framework_simplejwt.utils import aware_utcnow, datetime_from_epoch

from config.api.callers import Caller, CallerKind
from config.api.errors import InvalidToken, NotAuthenticated, TokenExpired, UserMismatch
from config.api.ids import is_id

KINDS = {"embed": CallerKind.PERSON, "access": CallerKind.SIGNED_IN}


class UserToken(Token):
    """A person's embed token."""

    token_type = "embed"  # noqa: S105  a claim's value, no secret
    lifetime = timedelta(hours=12)


def expiry_of(token: Token) -> datetime:
    return datetime_from_epoch(token["exp"])


def issue_user_token(account: Any) -> UserToken:
    """A new user token for a person; `str()` of it is what the person sends."""
    token = UserToken.for_user(account)
    token.set_exp(from_time=aware_utcnow(), lifetime=UserToken.lifetime)
    return token


def caller_of(raw: str, *, user_id: str | None) -> Caller:
    """The person behind a JWT. `user_id` is the X-User-Id header, which a user token needs beside it.

    Raises a 401, or UserMismatch (403) where the header names somebody else.
    """
    claims = _claims(raw)
    kind = KINDS.get(str(claims.get("token_type")))
    subject = str(claims.get("sub"))
    if kind is None or not is_id(subject):
        raise InvalidToken
    if kind is CallerKind.PERSON:
        _require_user_id(user_id, subject=subject)
    account = get_user_model()._default_manager.filter(pk=subject, is_active=True, kind="human").first()
    if account is None:
        raise InvalidToken
    return Caller(kind=kind, account=account, expires_at=datetime_from_epoch(claims["exp"]))


def _claims(raw: str) -> dict[str, Any]:
    try:
        return dict(UntypedToken(raw.encode()).payload)  # type: ignore[arg-type]
    except ExpiredTokenError:
        raise TokenExpired from None
    except (TokenError, ValueError, TypeError, AttributeError, OverflowError):
        # PyJWT and simplejwt let odd claims out as plain Python errors; to the caller each is a bad token.
        raise InvalidToken from None


def _require_user_id(user_id: str | None, *, subject: str) -> None:
    if not user_id:
        raise NotAuthenticated(details="X-User-Id is missing: send the token's subject with it.")
    if user_id.lower() != subject.lower():
        raise UserMismatch
