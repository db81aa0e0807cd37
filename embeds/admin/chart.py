"""Daily counts of an embed as plots."""

from __future__ import annotations

from datetime import date

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from embeds.analytics.events import VIEW, VIEW_IN_PAGE, KnownEvent
from embeds.analytics.summary import Summary
from kernel.plots import Plot, Series


def daily_chart(summary: Summary, *, is_inline: bool) -> SafeString:
    """Views, clicks and visitors, each with a plot: their numbers differ too much for one scale.

    A discussion in the page opens when it comes near the screen.
    """
    days = list(summary.days)
    view, click = (
        (("Views of pages", VIEW_IN_PAGE), ("Discussions reached", KnownEvent.PANEL_OPEN))
        if is_inline
        else (("Views of the trigger", VIEW), ("Clicks on the trigger", KnownEvent.TRIGGER_CLICK))
    )
    series = {
        view[0]: Series("views", _counts(summary, view[1])),
        click[0]: Series("opened" if is_inline else "clicks", _counts(summary, click[1])),
        "Visitors": Series("visitors", summary.visitors),
    }
    plots = [Plot(title, [one], days) for title, one in series.items()]
    return render_to_string("admin/desk/plots.html", {"plots": plots})


def _counts(summary: Summary, event: KnownEvent) -> dict[date, int]:
    return {day: counts[event] for day, counts in summary.days.items()}
