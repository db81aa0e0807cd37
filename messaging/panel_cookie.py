"""The cookie of a panel session, and the guard of the operations that read or set it.

Nothing else in the service reads the cookie. `Partitioned` gives each site that embeds the panel a cookie of its own,
also where the browser blocks cookies of third parties. Browsers accept `Secure` on the plain http of the local host.
"""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.http import HttpRequest

from kernel.api.exceptions import NotAuthenticated
from messaging.exceptions import PanelRequired
from messaging.models.panel_session import LIFETIME

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
