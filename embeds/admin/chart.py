"""Daily counts of an embed as inline SVG, without the scripts and styles that a strict CSP refuses."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from embeds.analytics.events import KnownEvent
from embeds.analytics.summary import Summary

STEP, BAR, HEIGHT = 10, 4, 96

# As the other plots of the admin: the texts are beside the drawing, which is stretched.
CHART = """
<figure class="plot">
<figcaption><span class="key series-1">views <b>{views}</b></span> <span class="key series-2">clicks <b>{clicks}</b></span></figcaption>
<svg role="img" aria-label="{label}" viewBox="0 0 {width} {height}" preserveAspectRatio="none">
{bars}
</svg>
<p class="ends"><span>{first}</span> <span>most: {top}</span> <span>{last}</span></p>
</figure>
"""  # noqa: E501
# A transparent rectangle of full height shows the tooltip over the whole column, also above short bars.
DAY = (
    '<g><rect class="series-1" x="{}" y="{}" width="4" height="{}"/>'
    '<rect class="series-2" x="{}" y="{}" width="4" height="{}"/>'
    '<rect class="day" x="{}" y="0" width="{}" height="{}"><title>{}</title></rect></g>'
)


def daily_chart(summary: Summary) -> SafeString:
    """Draw views and clicks of the trigger as two bars per day; a tooltip has the numbers of the day."""
    counts = summary.counts
    views, clicks = counts[KnownEvent.TRIGGER_VIEW], counts[KnownEvent.TRIGGER_CLICK]
    top = max(0, *(max(_views(summary, day), _clicks(summary, day)) for day in summary.days))
    return format_html(
        CHART,
        label=f"{views} views and {clicks} clicks of the trigger from {summary.first} to {summary.last}",
        views=views,
        clicks=clicks,
        width=STEP * len(summary.days),
        height=HEIGHT,
        top=top,
        first=summary.first,
        last=summary.last,
        bars=format_html_join("\n", DAY, _bars(summary, max(top, 1))),
    )


def _bars(summary: Summary, top: int) -> Iterator[tuple[object, ...]]:
    for index, day in enumerate(summary.days):
        left, views, clicks = index * STEP, _views(summary, day), _clicks(summary, day)
        visitors = summary.visitors.get(day, 0)
        views_height, clicks_height = (round(count * HEIGHT / top) for count in (views, clicks))
        yield (
            *(left + 1, HEIGHT - views_height, views_height),
            *(left + 1 + BAR, HEIGHT - clicks_height, clicks_height),
            *(left, STEP, HEIGHT),
            f"{day}: {views} views, {clicks} clicks, {visitors} visitors",
        )


def _views(summary: Summary, day: date) -> int:
    return summary.days[day][KnownEvent.TRIGGER_VIEW]


def _clicks(summary: Summary, day: date) -> int:
    return summary.days[day][KnownEvent.TRIGGER_CLICK]
