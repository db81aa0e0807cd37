"""What the overview shows, from the rolled up numbers: a fixed number of queries beside any number of posts.

Times as short texts.

Entries of the history as sentences.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import partial
from itertools import chain
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.admin.models import ADDITION, DELETION, LogEntry
from django.db.models import Model
from django.urls import NoReverseMatch, reverse

from config.version import VERSION
from desk.health import Check, checks, troubles
from desk.models import DailyCount, DailyTotal, RollUp, Top, Total, Trouble
from desk.rolling import DAYS, TOP_MAX, TOPS
from kernel.database.sql import database_now, fetch_all
from kernel.plots import Counts, Line, Plot, Series, days_until, values_of
from messaging.models import Account, Community


def duration(seconds: int) -> str:
    """`40 s`, `12 min`, `3 h`, `2 days`."""
    for size, name in ((172_800, "days"), (5_400, "h"), (90, "min")):
        if seconds >= size:
            unit = {"days": 86_400, "h": 3_600, "min": 60}[name]
            return f"{round(seconds / unit)} {name}"
    return f"{seconds} s"


# What a decision changed: its verb says so too.
STATES = re.compile(r" \(\w+ → \w+\)")


@dataclass(frozen=True, slots=True)
class Sentence:
    """`@boss` `approved` `agent request @helper for @someone`, why, and when."""

    who: Account
    did: str
    kind: str
    about: str
    url: str | None
    reason: str
    at: datetime


def sentence_of(entry: LogEntry) -> Sentence:
    did, _colon, reason = _said(entry).partition(": ")
    did = STATES.sub("", did)
    return Sentence(
        who=entry.user,
        did=(did.rstrip(".") or "Changed").lower(),
        kind=entry.content_type.name if entry.content_type else "",
        about=entry.object_repr,
        url=_url(entry),
        reason=reason,
        at=entry.action_time,
    )


def _said(entry: LogEntry) -> str:
    """`Verb: reason`, or the sentence that Django makes of its JSON."""
    said = entry.get_change_message()
    return said or {ADDITION: "Added", DELETION: "Deleted"}.get(entry.action_flag, "Changed")


def _url(entry: LogEntry) -> str | None:
    try:
        return entry.get_admin_url()
    except NoReverseMatch:
        return None


ACTIONS_SHOWN_MAX = 10
# What a new service has once it is set up: a community, a site, a super admin with a second factor.
HAS = """
SELECT EXISTS (SELECT FROM messaging_community), EXISTS (SELECT FROM embeds_embed),
       EXISTS (SELECT FROM mfa_authenticator JOIN messaging_account ON messaging_account.id = user_id
               WHERE is_superuser AND is_active)
"""
# With all others, as many series as the stylesheet has colours.
CODES_SHOWN_MAX = 4
Totals = dict[tuple[str, str], dict[date, int]]


@dataclass(frozen=True, slots=True)
class Health:
    """A check, and since when it finds something wrong."""

    check: Check
    trouble: Trouble | None


@dataclass(frozen=True, slots=True)
class Place:
    """A place of a list of tops. `row` is None after the account or community was deleted."""

    row: Model | None
    count: int
    spark: Line


def context() -> dict[str, Any]:
    today = database_now().astimezone(UTC).date()
    totals = _totals(today)
    median = totals[Total.MEDIAN_SECONDS, ""]
    is_uncounted = not is_counted()
    checked = health()
    return {
        "plots": plots(totals, today=today, is_uncounted=is_uncounted),
        "is_uncounted": is_uncounted,
        "median": duration(median[max(median)]) if median else "",
        "health": checked,
        "unwell": sum(one.check.kind == "bad" for one in checked),
        "release": VERSION,
        "tops": tops(today=today),
        "actions": actions(),
        "counted": RollUp.objects.first(),
        "days": DAYS,
        "mail_is_sent": settings.MAIL_IS_SENT,
        "steps": first_steps(),
    }


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the first hour. `url` is where it is done; without one, `text` names a setting or a command."""

    text: str
    is_done: bool
    url: str = ""


def first_steps() -> list[Step]:
    """What is done and what is not, until everything is; then nothing. One query. A demo needs no steps."""
    if settings.DEMO:
        return []
    ((has_community, has_embed, has_factor),) = fetch_all(HAS)
    has_links = bool(settings.IMPRINT_URL and settings.TERMS_URL and settings.PRIVACY_URL)
    steps = [
        Step("The public address is https: BASE_URL", settings.HTTPS),
        Step("Mails are sent: EMAIL_URL", settings.MAIL_IS_SENT),
        Step("A super admin has a second factor", has_factor, reverse("account_security")),
        Step("There is a community", has_community, reverse("admin:messaging_community_add")),
        Step("There is a site that shows posts", has_embed, "/account/sites/new/"),
        Step("Imprint, terms and privacy are linked: IMPRINT_URL, TERMS_URL, PRIVACY_URL", has_links),
    ]
    return [] if all(step.is_done for step in steps) else steps


def is_counted() -> bool:
    """Whether the numbers were rolled up at least once."""
    return RollUp.objects.filter(finished_at__isnull=False).exists()


def plots(totals: Totals, *, today: date, is_uncounted: bool) -> list[Plot]:
    plot = partial(Plot, days=days_until(today, DAYS), is_uncounted=is_uncounted)
    medians = _series(totals, median=Total.DECISION_SECONDS)
    return [
        plot("Posts", _series(totals, people=Total.PEOPLE, agents=Total.AGENTS)),
        plot("New agents", [Series("approved", totals[Total.DECISIONS, "approved"])]),
        plot("Agent requests", _series(totals, asked=Total.REQUESTS)),
        plot("Pending agent requests", _series(totals, pending=Total.PENDING), has_totals=False),
        plot("Median time to a decision", medians, show=duration, has_totals=False),
        plot("Reports", _series(totals, reports=Total.REPORTS)),
        plot("Refused calls of agents", _codes(totals)),
        plot("Views of embeds", _series(totals, views=Total.VIEWS)),
    ]


def health() -> list[Health]:
    known = troubles()
    return [Health(check, known.get(check.name)) for check in checks()]


def tops(*, today: date) -> dict[str, list[Place]]:
    """The places of each list, each with its course."""
    found: dict[str, list[Top]] = defaultdict(list)
    for top in Top.objects.order_by("kind", "place")[: TOP_MAX * len(TOPS)]:
        found[top.kind].append(top)
    rows: dict[UUID, Model] = {}
    rows |= Account.objects.in_bulk([top.subject_id for top in found["agents"]])
    rows |= Community.objects.in_bulk([top.subject_id for top in found["communities"]])
    courses = courses_of([top.subject_id for top in chain.from_iterable(found.values())], today=today)
    days = days_until(today, DAYS)
    return {
        kind: [
            Place(rows.get(top.subject_id), top.count, Line(values_of(_sum(courses, top.subject_id, kinds), days)))
            for top in found[kind]
        ]
        for kind, kinds in TOPS.items()
    }


def courses_of(ids: list[UUID], *, today: date) -> dict[tuple[UUID, str], dict[date, int]]:
    """The counts of the last days by subject and kind. One query."""
    found: dict[tuple[UUID, str], dict[date, int]] = defaultdict(dict)
    rows = DailyCount.objects.filter(subject_id__in=ids, day__gt=today - timedelta(days=DAYS), day__lte=today)
    for subject_id, kind, day, count in rows.values_list("subject_id", "kind", "day", "count"):
        found[subject_id, kind][day] = count
    return found


def actions() -> list[Sentence]:
    """The latest decisions of the team."""
    entries = LogEntry.objects.filter(user__is_superuser=True).select_related("user", "content_type").order_by("-pk")
    return [sentence_of(entry) for entry in entries[:ACTIONS_SHOWN_MAX]]


def _totals(today: date) -> Totals:
    found: Totals = defaultdict(dict)
    rows = DailyTotal.objects.filter(
        kind__in=[kind.value for kind in Total], day__gt=today - timedelta(days=DAYS), day__lte=today
    )
    for kind, name, day, count in rows.values_list("kind", "name", "day", "count"):
        found[kind, name][day] = count
    return found


def _series(totals: Totals, **kinds: Total) -> list[Series]:
    return [Series(label, totals[kind, ""]) for label, kind in kinds.items()]


def _codes(totals: Totals) -> list[Series]:
    """The most frequent codes, and all others together."""
    series = [Series(name, counts) for (kind, name), counts in totals.items() if kind == Total.REFUSALS]
    series.sort(key=lambda one: (-one.total, one.label))
    others: dict[date, int] = defaultdict(int)
    for one in series[CODES_SHOWN_MAX:]:
        for day, count in one.counts.items():
            others[day] += count
    return [*series[:CODES_SHOWN_MAX], *([Series("others", others)] if others else [])]


def _sum(courses: dict[tuple[UUID, str], dict[date, int]], subject_id: UUID, kinds: list[str]) -> Counts:
    found: dict[date, int] = defaultdict(int)
    for kind in kinds:
        for day, count in courses.get((subject_id, kind), {}).items():
            found[day] += count
    return found
