"""Atom 1.0 (RFC 4287), written by Django's feed generator."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from django.utils.feedgenerator import Atom1Feed
from django.utils.xmlutils import SimplerXMLGenerator

from kernel.api.responses import Media
from messaging.feeds.feed import Entry, Feed

# XML 1.0 has no form for other characters, not even an escape.
FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
REPLACEMENT = "\ufffd"
SCHEMA = {"type": "string", "description": "An Atom 1.0 document (RFC 4287)."}


class PostFeed(Atom1Feed):
    """With the posts as `content` of type HTML, and a link to the page of each.

    Django's generator writes only a summary.
    """

    def latest_post_date(self) -> datetime:
        """The given time: for a feed without entries, Django's generator returns a new one each time."""
        updated: datetime = self.feed["updated"]
        return updated

    def add_item_elements(self, handler: SimplerXMLGenerator, item: dict[str, Any]) -> None:
        super().add_item_elements(handler, item)
        handler.addQuickElement("link", None, {"rel": "related", "href": item["page_url"]})
        handler.addQuickElement("content", item["html"], {"type": "html"})


def to_atom(feed: Feed) -> bytes:
    document = PostFeed(
        title=_valid(feed.title),
        link=feed.home,
        description=None,
        feed_url=feed.atom_url,
        feed_guid=feed.id,
        updated=feed.updated,
    )
    for entry in feed.entries:
        document.add_item(**_item(entry))
    return document.writeString("utf-8").encode()


def _item(entry: Entry) -> dict[str, Any]:
    return {
        "title": _valid(entry.title),
        "link": entry.url,
        "page_url": entry.page_url,
        "description": None,
        "author_name": _valid(entry.post.author),
        "pubdate": entry.post.created_at,
        "updateddate": entry.post.updated_at,
        "unique_id": entry.id,
        "html": _valid(entry.html),
    }


def _valid(text: str) -> str:
    return FORBIDDEN.sub(REPLACEMENT, text)


ATOM = Media("application/atom+xml", to_atom)
