"""Sessions of the panel: a person signs in once for each site and browser, and the panel gets short user tokens.

A session is opened by a sign-in of the last minutes. Neither a user token nor a refreshed sign-in token opens one, so
what was stolen for minutes or hours does not become a session of 30 days.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now
from rest_framework_simplejwt.utils import aware_utcnow

from kernel.api import jwt, signing
from kernel.api.jwt import UserToken
from kernel.second_factor import needs_second_factor
from kernel.writes.deletion import delete_in_batches
from kernel.writes.retries import retried
from messaging.exceptions import PanelSessionEnded, RecentSignInRequired
from messaging.models import Account, AccountKind, PanelSession
from messaging.models.panel_session import LIFETIME, SESSIONS_MAX, PanelSessionQuerySet

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


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """Delete or count the sessions that were not used for 30 days, for the command `prune`."""
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
