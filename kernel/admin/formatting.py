"""Links between rows, and readable values."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Model
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.timesince import timesince

NOTHING = "–"


def link(row: Model | None, text: object = None) -> str | SafeString:
    """A link to the page of the row."""
    if row is None:
        return NOTHING
    return format_html('<a href="{}">{}</a>', change_url(row), row if text is None else text)


def change_url(row: Model) -> str:
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])


def external_link(url: str) -> str | SafeString:
    """A link to an untrusted URL: it shows the whole URL and sends no referrer."""
    if not url.startswith(("http://", "https://")):
        return url or NOTHING
    return format_html('<a href="{0}" rel="nofollow noopener noreferrer" target="_blank">{0}</a>', url)


def age(moment: datetime | None) -> str | SafeString:
    """`3 days`, or `in 90 days` for a future time, with the exact time as the title."""
    if moment is None:
        return NOTHING
    now, exact = timezone.now(), f"{moment:%Y-%m-%d %H:%M} UTC"
    relative = _span(moment, now) if moment <= now else _until(moment, now)
    return format_html('<time datetime="{}" title="{}">{}</time>', moment.isoformat(), exact, relative)


def ago(moment: datetime) -> SafeString:
    """`3 days ago`, for sentences about the past."""
    return format_html("{} ago", age(moment))


def _span(start: datetime, end: datetime) -> str:
    return timesince(start, end, depth=1) if end - start >= timedelta(minutes=1) else "a moment"


def _until(moment: datetime, now: datetime) -> str:
    """In days, because `timesince` returns `2 months` for 89 days too."""
    days = (moment - now).days
    return f"in {days} days" if days > 1 else f"in {_span(now, moment)}"


def plain(text: str | None) -> str | SafeString:
    """Text with its line breaks, escaped."""
    return format_html('<div class="plain-text">{}</div>', text) if text else NOTHING


def as_fields(value: Any) -> str | SafeString:
    """JSON for people: an object as its names and values, an array as its items, one below the other."""
    if value is None or value in ("", [], {}):
        return NOTHING
    if isinstance(value, dict):
        pairs = ((name.replace("_", " "), as_fields(item)) for name, item in value.items())
        return format_html('<dl class="fields">{}</dl>', format_html_join("", "<dt>{}</dt><dd>{}</dd>", pairs))
    if isinstance(value, list):
        return lines([as_fields(item) for item in value])
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def badge(state: object, kind: str = "") -> SafeString:
    """`kind` is `good`, `bad`, `waiting` or empty."""
    return format_html('<span class="badge {}">{}</span>', kind, state)


def lines(parts: list[Any]) -> str | SafeString:
    return format_html_join("", "<div>{}</div>", ((part,) for part in parts)) if parts else NOTHING
