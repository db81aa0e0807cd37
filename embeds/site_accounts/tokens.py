"""Reads the tokens with which sites sign their readers in: JWTs that are valid for an hour, once, for one embed.

The same reading serves the exchange, which refuses the first problem, and the tester, which names all of them.
"""

from __future__ import annotations

import math
import re
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

import jwt
import orjson
from django.conf import settings
from rest_framework import serializers

from embeds.exceptions import InvalidSiteToken
from embeds.models import ADDRESS_MAX, EMAIL_MAX, SUBJECT_MAX, Embed
from embeds.site_accounts.keys import ASYMMETRIC, public_keys, secrets_of
from kernel.api.fields import Boolean, Text
from kernel.api.serializers import BodySerializer
from messaging.models.account import NAME_MAX
from messaging.serializer_fields import Name, WebUrl

TOKEN_MAX = 8_192
JTI_MAX = 128
# These are seconds: the longest validity, and by how much the clocks of a site and of this service may differ.
VALIDITY_MAX = 3_600
LEEWAY = 60
SYMMETRIC = "HS256"
# Control characters are refused: PostgreSQL takes no NUL, and a log line none of them.
PLAIN = re.compile(r"[^\x00-\x1f\x7f-\x9f]+\Z")
TIME_MAX = 10**11
SIGNATURE_ALONE: Any = {"verify_signature": False}


class Problem(NamedTuple):
    """What is wrong: `claim` names the claim, or `token`, `alg` or `signature`."""

    claim: str
    message: str


@dataclass(frozen=True, slots=True)
class SiteToken:
    """What a site says about a reader."""

    subject: str
    name: str
    email: str
    is_moderator: bool
    token_id: str
    expires_at: datetime


@dataclass(slots=True)
class Reading:
    """What a token says, whether it is valid or not, and what is wrong with it. `token` is None with a problem."""

    algorithm: str = ""
    claims: dict[str, Any] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    token: SiteToken | None = None


class Moment(serializers.Field[float, Any, Any, Any]):
    """A time as JWTs have it: seconds since 1970."""

    default_error_messages = {"moment": "Not a number of seconds since 1970."}

    def to_internal_value(self, data: Any) -> float:
        if isinstance(data, bool) or not isinstance(data, int | float) or not 0 <= data < TIME_MAX:
            self.fail("moment")
        return float(data)


class ShownName(Name):
    """A name of any length. It is cut, because sites do not limit the names of their readers as this service does."""

    def to_internal_value(self, data: Any) -> str:
        name = data.strip() if isinstance(data, str) else data
        is_long = isinstance(name, str) and NAME_MAX < len(name) <= TOKEN_MAX
        return super().to_internal_value(f"{name[: NAME_MAX - 1]}…" if is_long else data)


class Claims(BodySerializer):
    sub = Text(max_length=SUBJECT_MAX, pattern=PLAIN)
    name = ShownName(max_length=NAME_MAX)
    email = serializers.EmailField(max_length=EMAIL_MAX, required=False, allow_blank=True)
    picture = WebUrl(max_length=ADDRESS_MAX, required=False, allow_blank=True)
    moderator = Boolean(required=False)
    iat = Moment()
    exp = Moment()
    jti = Text(max_length=JTI_MAX, pattern=PLAIN)


def read(raw: str, *, embed: Embed) -> SiteToken:
    """Raises InvalidSiteToken (401)."""
    reading = inspect(raw, embed=embed)
    if reading.token is None:
        problem = reading.problems[0]
        raise InvalidSiteToken(problem.message, field=problem.claim)
    return reading.token


def inspect(raw: str, *, embed: Embed) -> Reading:
    """Read a token of an embed, with everything that is wrong with it."""
    reading = Reading()
    try:
        header = jwt.get_unverified_header(raw)
        claims = orjson.loads(jwt.PyJWS().decode_complete(raw, options=SIGNATURE_ALONE)["payload"])
    except (jwt.PyJWTError, ValueError):
        reading.problems.append(Problem("token", "This is no JSON Web Token: three parts, with dots between them."))
        return reading
    if not isinstance(claims, dict):
        reading.problems.append(Problem("token", "Its claims are no JSON object."))
        return reading
    reading.algorithm, reading.claims = str(header.get("alg"))[:JTI_MAX], claims
    reading.problems += _problems_of_signature(raw, header, embed)
    if claims.get("aud") not in (str(embed.pk), [str(embed.pk)]):
        reading.problems.append(Problem("aud", f"`aud` has to be the id of this embed, {embed.pk}."))
    sent = Claims(data=claims)
    if sent.is_valid():
        values = sent.validated_data
        reading.problems += _problems_of_times(issued=values["iat"], expires=values["exp"], now=time.time())
        if not reading.problems:
            reading.token = _token(values)
    else:
        reading.problems += [Problem(name, f"`{name}`: {errors[0]}") for name, errors in sent.errors.items()]
    return reading


def _problems_of_signature(raw: str, header: dict[str, Any], embed: Embed) -> list[Problem]:
    algorithm = header.get("alg")
    if algorithm == SYMMETRIC:
        keys: list[Any] = secrets_of(embed)
        missing = "This embed has no secret yet: its owner makes one on the page of the site."
    elif algorithm in ASYMMETRIC and settings.SSO_JWKS and embed.jwks_url:
        known = public_keys(embed.jwks_url, key_id=header.get("kid"))
        keys = [key.key for key in known if key.algorithm_name == algorithm]
        missing = f"The address of the public keys has no key for {algorithm} and this `kid`, or cannot be read."
    else:
        takes = " or ".join((SYMMETRIC, *(ASYMMETRIC if settings.SSO_JWKS and embed.jwks_url else ())))
        return [Problem("alg", f"Sign with {takes}: this embed takes nothing else.")]
    if not keys:
        return [Problem("signature", missing)]
    if not any(_is_signed_by(key, raw, algorithm) for key in keys):
        return [Problem("signature", "It is signed with another key than that of this embed.")]
    return []


def _is_signed_by(key: Any, raw: str, algorithm: str) -> bool:
    try:
        jwt.PyJWS().decode_complete(raw, key, algorithms=[algorithm])
    except (jwt.PyJWTError, ValueError, TypeError):
        return False
    return True


def _problems_of_times(*, issued: float, expires: float, now: float) -> list[Problem]:
    problems = []
    if issued > now + LEEWAY:
        ahead = math.ceil(issued - now)
        problems.append(Problem("iat", f"`iat` is {ahead} s from now: set the clock of your server."))
    if expires <= now - LEEWAY:
        problems.append(Problem("exp", f"It expired {math.ceil(now - expires)} s ago: sign one for each sign-in."))
    if expires - issued > VALIDITY_MAX or expires > now + VALIDITY_MAX + LEEWAY:
        problems.append(Problem("exp", f"`exp` has to be at most {VALIDITY_MAX} s after `iat`."))
    return problems


def _token(values: dict[str, Any]) -> SiteToken:
    return SiteToken(
        subject=values["sub"],
        name=values["name"],
        email=values.get("email", "").lower(),
        is_moderator=values.get("moderator", False),
        token_id=values["jti"],
        expires_at=datetime.fromtimestamp(values["exp"], UTC),
    )
