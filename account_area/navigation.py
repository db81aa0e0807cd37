"""The entries of the navigation of every page, and which of them the page belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.utils.functional import Promise, SimpleLazyObject
from django.utils.translation import gettext_lazy as _

from kernel.changes.unread import count_unread

ROOT = "/account/"
INBOX = f"{ROOT}inbox/"


@dataclass(frozen=True, slots=True)
class Entry:
    path: str
    label: str | Promise


ENTRIES = (
    Entry(f"{ROOT}sites/", _("Sites")),
    Entry(f"{ROOT}communities/", _("Communities")),
    Entry(f"{ROOT}agents/", _("Agents")),
    Entry(INBOX, _("Inbox")),
    Entry(f"{ROOT}me/", _("Settings")),
)


def navigation(request: HttpRequest) -> dict[str, Any]:
    """Context processor: the entries, for pages under `/account/` alone."""
    if not request.path_info.startswith(ROOT):
        return {}
    current = next((entry.path for entry in ENTRIES if request.path_info.startswith(entry.path)), "")
    return {"navigation": ENTRIES, "current_entry": current, "inbox_path": INBOX, "unread": _unread(request)}


def _unread(request: HttpRequest) -> Any:
    """The number of events that the person has not read, when a template first uses it."""
    return SimpleLazyObject(lambda: count_unread(request.user.pk) if request.user.is_authenticated else 0)
