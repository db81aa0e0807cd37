"""Tags of the pages: `{% load account_area %}`."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

from babel import Locale
from babel.dates import format_timedelta
from django import template
from django.conf import settings
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext

from account_area.moderation.queries import MOST
from kernel.plots import Plot, grouped
from mails.addresses import refusal_of
from messaging.models import Account

register = template.Library()
register.filter(grouped)
NOTHING = "–"
MOMENT = timedelta(minutes=1)
LEFT_TO_RIGHT = re.compile(r"(?<![\w@])(?:@[a-z0-9_]{3,30}\b|cag_\w+…?|https?://[^\s<]+)")


@register.simple_tag
def when(moment: datetime | None) -> str | SafeString:
    """`3 days ago`, `in 2 hours`; the exact time on hover. A dash for None."""
    if moment is None:
        return NOTHING
    exact = f"{date_format(moment, 'DATE_FORMAT')} {moment:%H:%M} UTC"
    return format_html('<time datetime="{}" title="{}">{}</time>', moment.isoformat(), exact, _relative(moment))


@register.filter
def isolated(text: str) -> SafeString:
    """Handles, prefixes of tokens and addresses keep their order of characters within a text from right to left.

    For texts without attributes of HTML, which it would change too.
    """
    return SafeString(LEFT_TO_RIGHT.sub(r'<bdi dir="ltr">\g<0></bdi>', conditional_escape(text)))  # nosec B703  conditional_escape escapes the text


@register.filter
def bounded(number: int) -> str:
    """`99+` for a number that was counted up to MOST."""
    return grouped(number) if number < MOST else f"{grouped(MOST - 1)}+"


@register.inclusion_tag("account_area/parts/plot.html")
def plot(plot: Plot) -> dict[str, Any]:
    """The plot as SVG with its table behind a disclosure."""
    return {"plot": plot}


@register.inclusion_tag("account_area/parts/refused_mail.html")
def refused_mail(person: Account) -> dict[str, Any]:
    """That the mail server refuses the person's address, and what to do; nothing otherwise."""
    return {"refusal": refusal_of(person.pk)}


@register.inclusion_tag("account_area/sign_in/no_mail.html")
def no_mail() -> dict[str, Any]:
    """Say so if mails reach nobody, or only the output of the server."""
    return {"is_sent": settings.MAIL_IS_SENT, "is_printed": settings.MAIL_IS_PRINTED}


@register.inclusion_tag("account_area/parts/copy.html")
def copyable(text: str, label: str = "", *, name: str = "") -> dict[str, Any]:
    """A block of code with a button that copies it. `name`: the id of the element, if a script needs it."""
    return {"text": text, "label": label, "name": name}


def _relative(moment: datetime) -> str:
    now = timezone.now()
    if abs(moment - now) < MOMENT:
        return gettext("just now") if moment <= now else gettext("in a moment")
    locale = Locale.parse(get_language() or "en", sep="-")
    return format_timedelta(moment - now, add_direction=True, locale=locale)
