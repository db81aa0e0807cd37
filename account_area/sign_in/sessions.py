"""Sessions of the pages: which ones a person has, and how they end.

The name of a browser and its system, from the User-Agent header: enough to recognise a session by.

A session ends fourteen days after its last use. It is written once a day at most.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from allauth.account.signals import authentication_step_completed
from django.contrib.auth import SESSION_KEY, user_logged_in
from django.contrib.sessions.models import Session
from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Now
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone

from account_area.models import AccountSession
from account_area.sign_in.log import BY_METHOD, log_first_step, log_session
from kernel.pages.sessions import stored_key
from kernel.writes.deletion import delete_in_batches
from messaging.accounts.second_factor import has_second_factor
from messaging.accounts.sessions import end_all_sessions
from messaging.models import Account, PanelSession

# The first that the header contains; most browsers name others as well.
BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS", "Firefox"),
    ("Chrome/", "Chrome"),
    ("CriOS", "Chrome"),
    ("Safari/", "Safari"),
)
SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)


def device_of(user_agent: str) -> str:
    """`Firefox · Linux`; empty if the header names neither."""
    found = (_first(user_agent, BROWSERS), _first(user_agent, SYSTEMS))
    return " · ".join(filter(None, found))


def _first(user_agent: str, names: tuple[tuple[str, str], ...]) -> str:
    return next((name for mark, name in names if mark in user_agent), "")


RENEWED_EVERY = timedelta(days=1)
USED_AT = "used_at"


def renew(request: HttpRequest) -> None:
    """Begin the fourteen days again, unless that was done within a day. A session of nobody is not touched."""
    from account_area.models import AccountSession

    session = request.session
    now = timezone.now()
    if SESSION_KEY not in session or session.get(USED_AT, "") > (now - RENEWED_EVERY).isoformat():
        return
    session[USED_AT] = now.isoformat()
    AccountSession.objects.filter(session_id=stored_key(session.session_key or "")).update(last_used_at=Now())


@receiver(user_logged_in)
def record_session(sender: Any, request: HttpRequest | None, user: Account, **_kwargs: Any) -> None:
    """Sent by Django for every sign-in, whichever way."""
    if request is None:
        return
    # `SignInMiddleware` sets the cookie.
    request.has_signed_in = user  # type: ignore[attr-defined]
    session = request.session
    session[USED_AT] = timezone.now().isoformat()
    # Not the short one of a stranger (`sign_in_with_passkey`).
    session.set_expiry(None)
    # The row is needed now, because ours refers to it. Django has given it a new key before.
    session.save()
    AccountSession.objects.update_or_create(
        session_id=stored_key(session.session_key or ""),
        defaults={
            "account": user,
            "sessions_valid_from": user.sessions_valid_from,
            "device": device_of(request.headers.get("User-Agent", "")),
        },
    )
    log_session(request, user)


@receiver(authentication_step_completed)
def record_first_step(sender: Any, request: HttpRequest, method: str, user: Account, **_kwargs: Any) -> None:
    """Sent by allauth for every right factor, also where a person who is signed in proves one again."""
    first = BY_METHOD.get(method)
    if first is not None and not request.user.is_authenticated and has_second_factor(account=user):
        log_first_step(request, user, first)


def sessions_of(account: Account) -> QuerySet[AccountSession]:
    """Those that are valid, the last used one first."""
    valid = AccountSession.objects.filter(account=account, sessions_valid_from=account.sessions_valid_from)
    if account.sessions_valid_from is None:
        valid = AccountSession.objects.filter(account=account, sessions_valid_from__isnull=True)
    return valid.filter(session__expire_date__gt=Now()).order_by("-last_used_at")


def panel_sessions_of(account: Account) -> QuerySet[PanelSession]:
    """The sessions of panels that are valid, the last used one first."""
    since = account.sessions_valid_from
    is_valid = {"sessions_valid_from__isnull": True} if since is None else {"sessions_valid_from": since}
    return account.panel_sessions.in_use().filter(**is_valid).order_by("-last_used_at")


def end_session(account: Account, key: str) -> None:
    """End a session of the pages. Idempotent."""
    Session.objects.filter(pk__in=AccountSession.objects.filter(account=account, pk=key).values("pk")).delete()


def end_panel(account: Account, session_id: Any) -> None:
    account.panel_sessions.filter(pk=session_id).delete()


def end_everywhere(account: Account) -> None:
    """End every session and token of the person, also those of this browser."""
    end_all_sessions(account=account)
    Session.objects.filter(pk__in=AccountSession.objects.filter(account=account).values("pk")).delete()


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """Delete or count the sessions of the pages that have expired, for the command `prune`."""
    expired = Session.objects.filter(expire_date__lte=now)
    number = expired.count() if dry_run else delete_in_batches(expired)
    if not dry_run:
        # Joined: PostgreSQL would search a list of all sessions once for each row if it is larger than work_mem.
        AccountSession.objects.filter(~Exists(Session.objects.filter(pk=OuterRef("session_id")))).delete()
    return {"expired sessions of the pages": number}
