"""Embeds and their numbers as the API answers them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.conf import settings

from embeds.analytics.events import KNOWN_EVENTS
from embeds.analytics.summary import Summary, columns
from embeds.embed_code import embed_code
from embeds.models import Embed
from embeds.sources import Source

# PostgreSQL keeps the keys of an object in an order of its own.
RULES = ("type", "patterns")
TRIGGER = ("type", "position", "message", "color", "size")


def instance_record(embed: Embed) -> dict[str, Any]:
    """The whole instance, for its owner."""
    return {
        "id": embed.pk,
        "name": embed.name,
        "description": embed.description,
        "communityId": embed.community_id,
        "domainWhitelist": embed.domain_whitelist,
        "pageRules": _in_order(embed.page_rules, RULES),
        "triggerConfig": _in_order(embed.trigger_config, TRIGGER),
        "status": embed.status,
        "blockedWords": embed.blocked_words,
        "embedCode": embed_code(app_url=settings.APP_URL, embed_id=embed.pk),
        "ownerId": embed.owner_id,
        "createdAt": embed.created_at,
        "updatedAt": embed.updated_at,
    }


def config_record(source: Source) -> dict[str, Any]:
    """What the loader reads, at the top level and once more under `config`: the contract shows both shapes."""
    config = {
        "id": source.id,
        "communityId": source.community_id,
        "domainWhitelist": source.domain_whitelist,
        "pageRules": _in_order(source.page_rules, RULES),
        "triggerConfig": _in_order(source.trigger_config, TRIGGER),
        "status": source.status,
    }
    return config | {"config": config}


def summary_record(summary: Summary) -> dict[str, Any]:
    counts = summary.counts
    return {
        "embedId": summary.embed_id,
        "from": summary.first,
        "to": summary.last,
        "totals": {event: counts[event] for event in KNOWN_EVENTS},
        "events": {event: count for event, count in sorted(counts.items()) if event not in KNOWN_EVENTS},
        "uniqueVisitors": sum(summary.visitors.values()),
        "clickRate": summary.click_rate,
        "days": [
            {"date": day, "counts": dict(events), "uniqueVisitors": summary.visitors.get(day, 0)}
            for day, events in summary.days.items()
        ],
        "pages": [{"path": path, "counts": dict(events)} for path, events in summary.pages.items()],
    }


def summary_table(summary: Summary) -> list[list[Any]]:
    """One row a day below a row of names, for CSV."""
    events = columns(summary)
    rows = [
        [day.isoformat(), summary.visitors.get(day, 0), *(counts[event] for event in events)]
        for day, counts in summary.days.items()
    ]
    return [["date", "uniqueVisitors", *events], *rows]


def _in_order(kept: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: kept[name] for name in names}
