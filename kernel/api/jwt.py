"""JWTs of people: a user token for pages and agents, and the access and refresh tokens of a sign-in.

The settings fix HS256, issuer and audience. The claim `token_type` distinguishes the kinds, which are not
interchangeable.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Self, TypeVar

from django.contrib.auth import get_user_model
from rest_framework_simplejwt.exceptions import ExpiredTokenError, TokenError
from rest_framework_simplejwt.settings import api_settings
from rest_framework_simplejwt.tokens import Token, UntypedToken
from rest_framework_simplejwt.utils import aware_utcnow, datetime_from_epoch

from kernel.api.credentials import Credential, CredentialKind
from kernel.api.exceptions import InvalidToken, NotAuthenticated, TokenExpired, TokenRevoked, UserMismatch
from kernel.api.ids import is_id
from kernel.second_factor import needs_second_factor

KINDS = {"embed": CredentialKind.PERSON, "access": CredentialKind.SIGNED_IN}
# The claim with the account's `sessions_valid_from` at the time of issue.
SESSIONS = "sessions_valid_from"
# The claim with the time of the sign-in, of the access token that the sign-in returns; a refreshed one has none.
SIGN_IN = "auth_time"
# The claim of a user token that was issued for the cookie of a panel.
OF_PANEL = "panel"
USER_ID_MISSING = "Send the header X-User-Id too, with the id of the person that the user token was issued for."
# Differs from any `sessions_valid_from`.
ENDED = object()
# The format of simplejwt. Other texts may contain characters that PostgreSQL refuses.
JTI = re.compile(r"[0-9a-f]{32}\Z")


class PersonToken(Token):
    """A JWT of a person. It ends when the account's `sessions_valid_from` changes."""

    @classmethod
    def for_user(cls, user: Any) -> Self:
        token: Self = super().for_user(user)
        token[SESSIONS] = _sessions_of(user)
        return token

    def verify(self) -> None:
        super().verify()
        jti = self.payload["jti"]
        if not isinstance(jti, str) or JTI.match(jti) is None:
            raise TokenError("Token has an invalid id")


class UserToken(PersonToken):
    token_type = "embed"  # noqa: S105  a claim's value, no secret
    lifetime = timedelta(hours=12)


class AccessToken(PersonToken):
    token_type = "access"  # noqa: S105  as above
    lifetime = api_settings.ACCESS_TOKEN_LIFETIME


class RefreshToken(PersonToken):
    token_type = "refresh"  # noqa: S105  as above
    lifetime = api_settings.REFRESH_TOKEN_LIFETIME


class AnyToken(PersonToken, UntypedToken):
    """A token of any kind."""


Kind = TypeVar("Kind", bound=PersonToken)


def expiry_of(token: Token) -> datetime:
    return datetime_from_epoch(token["exp"])


def issue_user_token(account: Any, *, lifetime: timedelta = UserToken.lifetime, is_of_panel: bool = False) -> UserToken:
    """A new user token for a person; `str()` returns the JWT."""
    token = UserToken.for_user(account)
    if is_of_panel:
        token[OF_PANEL] = True
    token.set_exp(from_time=aware_utcnow(), lifetime=lifetime)
    return token


def read(kind: type[Kind], raw: str) -> Kind:
    """Verify a JWT, but not its person; raises InvalidToken or TokenExpired (401)."""
    try:
        return kind(raw.encode())  # type: ignore[arg-type]
    except ExpiredTokenError:
        raise TokenExpired from None
    except (TokenError, ValueError, TypeError, AttributeError, OverflowError, OSError):
        # PyJWT and simplejwt raise plain Python errors for claims of unexpected types.
        raise InvalidToken from None


def person_credential(raw: str, *, user_id: str | None) -> Credential:
    """The credential of a person's JWT. `user_id` is the X-User-Id header, which a user token requires.

    Raises a 401, or UserMismatch (403) if the header names another account.
    """
    token = read(AnyToken, raw)
    kind = KINDS.get(str(token.get("token_type")))
    if kind is None:
        raise InvalidToken
    if kind is CredentialKind.PERSON:
        _require_user_id(user_id, subject=_subject(token))
    person = person_of(token)
    return Credential(
        kind=kind,
        user=person,
        expires_at=expiry_of(token),
        signed_in_at=_sign_in_of(token),
        is_of_panel=OF_PANEL in token,
        community_ids=frozenset() if person.site_community_id is None else frozenset({person.site_community_id}),
    )


def person_of(token: Token) -> Any:
    """The active person of a token; raises InvalidToken or TokenRevoked (401).

    Revoked is also the token of a super admin who needs a second factor and has none.
    """
    account = get_user_model()._default_manager.filter(pk=_subject(token), is_active=True, kind="human").first()
    if account is None:
        raise InvalidToken
    if _is_ended(token.payload, account) or needs_second_factor(account):
        raise TokenRevoked
    return account


def ended_people(credentials: Sequence[Credential]) -> list[Credential]:
    """Those of people that have expired, or whose person is suspended or has ended the sessions, since they were read.

    One query, and one for each super admin with `ADMIN_MFA=1`; for the setting CREDENTIAL_CHECKS.
    """
    people = [each for each in credentials if each.kind in KINDS.values()]
    if not people:
        return []
    active = get_user_model()._default_manager.filter(pk__in={each.user.pk for each in people}, is_active=True)
    sessions = dict(active.values_list("pk", "sessions_valid_from"))
    now = aware_utcnow()
    return [
        each
        for each in people
        if each.expires_at is None
        or each.expires_at <= now
        or sessions.get(each.user.pk, ENDED) != each.user.sessions_valid_from
        or needs_second_factor(each.user)
    ]


def _sign_in_of(token: Token) -> datetime | None:
    """When the person signed in; None for a user token and a refreshed one."""
    try:
        return datetime_from_epoch(token[SIGN_IN])
    except (KeyError, TypeError, ValueError, OverflowError, OSError):
        return None


def _subject(token: Token) -> str:
    subject = token.get("sub")
    if not is_id(subject):
        raise InvalidToken
    return str(subject)


def _sessions_of(account: Any) -> str | None:
    since: datetime | None = account.sessions_valid_from
    return None if since is None else since.isoformat()


def _is_ended(claims: Mapping[str, Any], account: Any) -> bool:
    """Whether the account's sessions were ended after the token was issued.

    The claim SESSIONS compares no clocks. A token of an earlier release lacks it; there `iat` is compared, which has
    whole seconds: a token of the same second is ended.
    """
    if SESSIONS in claims:
        return bool(claims[SESSIONS] != _sessions_of(account))
    since, issued = account.sessions_valid_from, claims.get("iat")
    return since is not None and not (isinstance(issued, int | float) and issued >= since.timestamp())


def _require_user_id(user_id: str | None, *, subject: str) -> None:
    if not user_id:
        raise NotAuthenticated(USER_ID_MISSING, field="X-User-Id")
    if user_id.lower() != subject.lower():
        raise UserMismatch
