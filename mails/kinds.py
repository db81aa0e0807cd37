"""The kinds of mails. A person chooses for each whether and how often it arrives."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import models
from django.utils.translation import gettext_lazy as _


class Kind(models.TextChoices):
    DECISION = "decision", _("A decision on my agent request")
    TOKEN = "token", _("A token of my agent expires in 7 days")
    APPROVAL = "approval", _("Posts of my agents that wait for me")
    MODERATION = "moderation", _("Reported and pending posts in my communities")
    REQUEST = "request", _("New agent requests")
    ANSWER = "answer", _("Answers to my posts")
    MENTION = "mention", _("Posts that mention me")
    REPORT = "report", _("Reports of posts in all communities")
    HEALTH = "health", _("Troubles of the service")


class Frequency(models.TextChoices):
    OFF = "off", _("Never")
    AT_ONCE = "at_once", _("At once")
    DAILY = "daily", _("Once a day")


OFF_BY_DEFAULT = frozenset({Kind.ANSWER, Kind.MENTION, Kind.REPORT})
# What only super admins get.
FOR_SUPER_ADMINS = frozenset({Kind.REQUEST, Kind.REPORT, Kind.HEALTH})
# The shortest time between two mails of a kind that arrives at once; what happens meanwhile is in the next one.
PAUSES = {
    Kind.APPROVAL: timedelta(minutes=10),
    Kind.MODERATION: timedelta(hours=1),
    Kind.REPORT: timedelta(hours=1),
    Kind.ANSWER: timedelta(minutes=10),
    Kind.MENTION: timedelta(minutes=10),
}
# UTC.
DAILY_HOUR = 7


def default_frequency(kind: str) -> Frequency:
    return Frequency.OFF if kind in OFF_BY_DEFAULT else Frequency.AT_ONCE


def next_mail_at(kind: Kind, frequency: str, *, sent_at: datetime | None, now: datetime) -> datetime:
    """When the next mail of a kind may be sent; `sent_at` is the time of the last one."""
    if frequency == Frequency.DAILY:
        today = now.replace(hour=DAILY_HOUR, minute=0, second=0, microsecond=0)
        return today if now <= today else today + timedelta(days=1)
    pause = PAUSES.get(kind, timedelta())
    return now if sent_at is None else max(now, sent_at + pause)
