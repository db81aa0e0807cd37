"""JSON Feed 1.1 (https://www.jsonfeed.org/version/1.1/)."""

from __future__ import annotations

from kernel.api.responses import Media
from kernel.api.serializers import render
from kernel.cache.rendering import to_json
from messaging.feeds.feed import Feed
from messaging.feeds.serializers import JsonFeedSerializer


def to_json_feed(feed: Feed) -> bytes:
    return to_json(render(JsonFeedSerializer, feed))


JSON_FEED = Media("application/feed+json", to_json_feed)
