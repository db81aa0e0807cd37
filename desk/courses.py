"""The own course of an account, an agent, a community or an embed, for its page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, date, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Model, Sum
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from agents.models import Agent, RefusedCall
from desk.dashboard import courses_of, is_counted
from desk.models import Of
from desk.rolling import DAYS
from embeds.models import Embed
from kernel.database.sql import database_now
from kernel.plots import Plot, Series, days_until
from messaging.models import Account, Community

Found = Mapping[tuple[UUID, str], dict[date, int]]


def panel(row: Model) -> SafeString:
    """The plots of the row as HTML; empty for a row of another kind."""
    if not isinstance(row, Account | Agent | Community | Embed):
        return SafeString("")
    today = database_now().astimezone(UTC).date()
    found = courses_of([row.pk], today=today)
    account = row.account if isinstance(row, Agent) else row if isinstance(row, Account) else None
    if account is not None and account.is_of_service:
        account = None
    context = {"plots": _plots(row, found, today=today), "days": DAYS, "account": account}
    return render_to_string("admin/desk/courses.html", context)


def _plots(row: Any, found: Found, *, today: date) -> list[Plot]:
    days, is_uncounted = days_until(today, DAYS), not is_counted()

    def series(label: str, *kinds: Of) -> Series:
        return Series(label, _together([found.get((row.pk, kind.value), {}) for kind in kinds]))

    def plot(title: str, *of: Series) -> Plot:
        return Plot(title, of, days, is_uncounted=is_uncounted)

    match row:
        case Community():
            people, agents = series("people", Of.COMMUNITY_PEOPLE), series("agents", Of.COMMUNITY_AGENTS)
            reported = series("reports", Of.COMMUNITY_REPORTS)
            return [plot("Posts", people, agents), plot("Reports", reported)]
        case Embed():
            return [plot("Posts written here", series("posts", Of.EMBED))]
    posts = plot("Posts", series("posts", Of.PERSON, Of.AGENT))
    reports = plot("Reports of these posts", series("reports", Of.REPORTED))
    if isinstance(row, Agent):
        return [posts, reports, Plot("Refused calls", [Series("calls", _refused(row, today))], days)]
    return [posts, reports]


def _together(parts: list[dict[date, int]]) -> dict[date, int]:
    found: dict[date, int] = defaultdict(int)
    for part in parts:
        for day, count in part.items():
            found[day] += count
    return found


def _refused(agent: Agent, today: date) -> dict[date, int]:
    """Those are stored by day already."""
    calls = RefusedCall.objects.filter(agent=agent, day__gt=today - timedelta(days=DAYS), day__lte=today)
    return dict(calls.values_list("day").annotate(calls=Sum("calls")))
