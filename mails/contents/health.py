"""Mails about the health of the service, to super admins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.utils.formats import date_format
from django.utils.translation import gettext as _

from mails import places
from mails.contents.parts import Content, Item, one_line
from mails.models import Notice
from messaging.inbox.events import ServiceEvent
from messaging.models import Account


def troubles(account: Account, notices: Sequence[Notice]) -> Content:
    """What began and what ended, in order; nothing for a person who is no super admin any more."""
    found = notices if account.is_superuser else []
    items = [_trouble(notice) for notice in found if notice.data]
    return Content(
        subject=items[-1].sentence if items else "",
        reason=_("You get this mail because you are a super admin."),
        items=items,
    )


def _trouble(notice: Notice) -> Item:
    data: Mapping[str, Any] = notice.data or {}
    names = {"trouble": one_line(str(data["text"]), 100), "since": _moment(datetime.fromisoformat(data["since"]))}
    if notice.type == ServiceEvent.TROUBLE_ENDED:
        sentence = _("Over: %(trouble)s (since %(since)s)") % names
    else:
        sentence = _("%(trouble)s, since %(since)s") % names
    return Item(sentence, places.admin(), _("Open the overview"))


def _moment(moment: datetime) -> str:
    return f"{date_format(moment, 'DATE_FORMAT')} {moment:%H:%M} UTC"
