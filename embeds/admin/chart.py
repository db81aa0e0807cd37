"""Daily counts of an embed as inline SVG, without the scripts and styles that a strict CSP refuses."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from embeds.analytics.events import KnownEvent
from embeds.analytics.summary import Summary

STEP, HEIGHT, MARGIN = 18, 160, 24
VIEWS, CLICKS = "#79aec8", "#417690"

CHART = """
<svg role="img" aria-label="{label}" viewBox="0 0 {width} {full}" width="{width}" height="{full}">
<line x1="0" y1="{base}" x2="{width}" y2="{base}" stroke="currentColor" stroke-opacity="0.4"/>
{bars}
<g fill="currentColor" font-size="11"><text x="0" y="12">{top}</text>
<text x="{width}" y="12" text-anchor="end">
<tspan fill="{views_fill}">■</tspan> views <tspan fill="{clicks_fill}">■</tspan> clicks</text>
<text x="0" y="{foot}">{first}</text><text x="{width}" y="{foot}" text-anchor="end">{last}</text></g>
</svg>
"""
# A transparent rectangle of full height shows the tooltip over the whole column, also above short bars.
DAY = (
    '<g><title>{}</title><rect x="{}" y="{}" width="{}" height="{}" fill="transparent"/>'
    '<rect x="{}" y="{}" width="7" height="{}" fill="{}"/><rect x="{}" y="{}" width="7" height="{}" fill="{}"/></g>'
)


def daily_chart(summary: Summary) -> SafeString:
    """Draw views and clicks of the trigger as two bars per day; a tooltip has the numbers of the day."""
    counts = summary.counts
    views, clicks = counts[KnownEvent.TRIGGER_VIEW], counts[KnownEvent.TRIGGER_CLICK]
    top = max([_views(summary, day) for day in summary.days] + [_clicks(summary, day) for day in summary.days] + [1])
    return format_html(
        CHART,
        label=f"{views} views and {clicks} clicks of the trigger from {summary.first} to {summary.last}",
        width=STEP * len(summary.days),
        full=HEIGHT + 2 * MARGIN,
        base=HEIGHT + MARGIN,
        foot=HEIGHT + 2 * MARGIN - 6,
        top=f"maximum per day: {top}",
        views_fill=VIEWS,
        clicks_fill=CLICKS,
        first=summary.first,
        last=summary.last,
        bars=format_html_join("\n", DAY, _bars(summary, top)),
    )


def _bars(summary: Summary, top: int) -> Iterator[tuple[object, ...]]:
    for index, day in enumerate(summary.days):
        left, views, clicks = index * STEP, _views(summary, day), _clicks(summary, day)
        visitors = summary.visitors.get(day, 0)
        views_height, clicks_height = (round(count * HEIGHT / top) for count in (views, clicks))
        yield (
            f"{day}: {views} views, {clicks} clicks, {visitors} visitors",
            *(left, MARGIN, STEP, HEIGHT),
            *(left + 2, MARGIN + HEIGHT - views_height, views_height, VIEWS),
            *(left + 9, MARGIN + HEIGHT - clicks_height, clicks_height, CLICKS),
        )


def _views(summary: Summary, day: date) -> int:
    return summary.days[day][KnownEvent.TRIGGER_VIEW]


def _clicks(summary: Summary, day: date) -> int:
    return summary.days[day][KnownEvent.TRIGGER_CLICK]
