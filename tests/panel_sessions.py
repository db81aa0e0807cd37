"""Requests of the panel with the cookie of its session."""

from __future__ import annotations

import re

from django.conf import settings
from django.utils import timezone

from messaging.accounts.sessions import start_panel_session
from messaging.models import Account
from tests.api import Answer

COOKIE = re.compile(
    r"__Host-panel=([\w-]*); Max-Age=(\d+); Path=/; Secure; HttpOnly; SameSite=None; Partitioned", re.ASCII
)


def panel_headers(secret: str = "") -> dict[str, str]:
    """The headers that a browser sends for the panel, with its cookie if there is one."""
    guard = {"Origin": settings.APP_URL, "X-Community-Panel": "1"}
    return guard | ({"Cookie": f"__Host-panel={secret}"} if secret else {})


def panel_secret(account: Account) -> str:
    """The secret of a new session."""
    return start_panel_session(account=account, signed_in_at=timezone.now())


def cookie_in(answer: Answer) -> tuple[str, int] | None:
    """The value of the cookie that a response sets, and its Max-Age in seconds."""
    header = answer.headers.get("Set-Cookie")
    if header is None:
        return None
    found = COOKIE.fullmatch(header)
    assert found is not None, header
    return found[1], int(found[2])


def secret_in(answer: Answer) -> str:
    cookie = cookie_in(answer)
    assert cookie is not None
    return cookie[0]
