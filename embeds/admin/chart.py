"""Daily counts of an embed as plots."""

from __future__ import annotations

from datetime import date

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from config.plots import Plot, Series
from embeds.analytics.events import KnownEvent
from embeds.analytics.summary import Summary


def daily_chart(summary: Summary) -> SafeString:
    """Views, clicks and visitors, each with a plot: their numbers differ too much for one scale."""
    days = list(summary.days)
    series = {
        "Views of the trigger": Series("views", _counts(summary, KnownEvent.TRIGGER_VIEW)),
        "Clicks on the trigger": Series("clicks", _counts(summary, KnownEvent.TRIGGER_CLICK)),
        "Visitors": Series("visitors", summary.visitors),
    }
    plots = [Plot(title, [one], days) for title, one in series.items()]
    return render_to_string("admin/desk/plots.html", {"plots": plots})


def _counts(summary: Summary, event: KnownEvent) -> dict[date, int]:
    return {day: counts[event] for day, counts in summary.days.items()}
