"""Tells whether a handle can be had, for the form of a request."""

from __future__ import annotations

from django.utils.translation import gettext as _

from messaging.accounts.services import handles_like
from messaging.models import HandleClaim
from messaging.models.account import HANDLE


def check_handle(handle: str) -> dict[str, str]:
    """`{state, text}`; states: empty, invalid, taken, similar, free."""
    if not handle:
        return {"state": "empty", "text": ""}
    if not HANDLE.fullmatch(handle):
        return {"state": "invalid", "text": _("Use 3 to 30 of a to z, 0 to 9 and _.")}
    if HandleClaim.objects.filter(handle=handle).exists():
        return {"state": "taken", "text": _("This handle is already in use. Choose another one.")}
    similar = handles_like(handle=handle)
    if similar:
        text = _("It is free, but looks like @%(other)s. A reviewer may refuse it.") % {"other": similar[0][0]}
        return {"state": "similar", "text": text}
    return {"state": "free", "text": _("This handle is free.")}
