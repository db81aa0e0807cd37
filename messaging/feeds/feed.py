"""The content of a feed, the same in both formats: titles and names are plain text, a post is HTML.

Atom 1.0 (RFC 4287), written by Django's feed generator.

JSON Feed 1.1 (https://www.jsonfeed.org/version/1.1/).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from html import escape
from itertools import accumulate
from typing import Any
from uuid import UUID, uuid5

from django.conf import settings
from django.utils.feedgenerator import Atom1Feed
from django.utils.xmlutils import SimplerXMLGenerator

from kernel.api.requests import Media
from kernel.api.serializers import render
from kernel.cache.rendering import to_json
from messaging.feeds.queries import FeedPost
from messaging.feeds.renderings import Source, render_texts
from messaging.feeds.serializers import JsonFeedSerializer
from messaging.markdown.html import Rendered
from messaging.models import AccountKind
from messaging.pages.permalinks import permalink, place_on_page
from messaging.posts.excerpts import title_of
from messaging.posts.message_sizes import ESCAPED_MAX, PAGE_BYTES

# A longer text is cut; its entry has the address of the whole one.
TEXT_MAX = 5_000
# The size of an entry without its texts, and that of a feed without entries.
ENTRY_BYTES, HEAD_BYTES = 1_000, 50_000
# The feed of a page without posts has never changed, and `updated` is required.
NEVER = datetime(1970, 1, 1, tzinfo=UTC)
PAGES = UUID("0d3b5b5e-6a0f-4c0e-9a53-6d2f2f2a1c55")


@dataclass(frozen=True, slots=True)
class Author:
    name: str


@dataclass(frozen=True)
class Entry:
    """A post in a feed. `url` is its permalink, `page_url` its address on its page."""

    post: FeedPost
    text: Rendered

    @property
    def id(self) -> str:
        return self.post.id.urn

    @property
    def url(self) -> str:
        return permalink(self.post.id)

    @cached_property
    def page_url(self) -> str:
        return place_on_page(self.post.page_url, self.post.id)

    @cached_property
    def title(self) -> str:
        return title_of(self.text.plain, author=self.post.author, is_reply=self.post.is_reply)

    @property
    def html(self) -> str:
        return self.text.html

    @property
    def authors(self) -> list[Author]:
        return [Author(self.post.author)]

    @property
    def texts(self) -> tuple[str, ...]:
        return (self.title, self.post.content, self.html, self.post.author, self.page_url)

    def size(self) -> int:
        """An upper limit of the size of the entry in bytes, in both formats."""
        in_json = sum(len(to_json(text)) for text in self.texts)
        in_atom = sum(len(escape(text, quote=False).encode()) for text in self.texts)
        return ENTRY_BYTES + max(in_json, in_atom - len(self.post.content))


@dataclass(frozen=True)
class Feed:
    """`path` is the path of its address without the extension and `query`, `home` the address that it belongs to."""

    id: str
    title: str
    home: str
    path: str
    entries: Sequence[Entry]
    query: str = ""

    @property
    def atom_url(self) -> str:
        return f"{settings.BASE_URL}{self.path}.atom{self.query}"

    @property
    def json_url(self) -> str:
        return f"{settings.BASE_URL}{self.path}.json{self.query}"

    @property
    def updated(self) -> datetime:
        return max((entry.post.updated_at for entry in self.entries), default=NEVER)


def feed_of_page(page_id: str, page_url: str | None, posts: Iterable[FeedPost], embed_id: UUID | None = None) -> Feed:
    return Feed(
        id=uuid5(PAGES if embed_id is None else embed_id, page_id).urn,
        title=f"Discussion of {page_url or page_id}",
        home=page_url or settings.BASE_URL,
        path=f"/feeds/pages/{page_id}",
        entries=_fitting(posts),
        query="" if embed_id is None else f"?embedId={embed_id}",
    )


def feed_of_community(community_id: UUID, slug: str, name: str, posts: Iterable[FeedPost]) -> Feed:
    return Feed(
        id=community_id.urn,
        title=name,
        home=settings.BASE_URL,
        path=f"/feeds/communities/{slug}",
        entries=_fitting(posts),
    )


def _cut(text: str) -> str:
    return text if len(text) <= TEXT_MAX else f"{text[:TEXT_MAX]}…"


def _fitting(posts: Iterable[FeedPost]) -> list[Entry]:
    """The first posts, as many as fit into a response of PAGE_BYTES."""
    sources = [(post, Source(post.id, post.content, _cut(post.content))) for post in posts]
    texts = render_texts(source for _post, source in sources)
    entries = [Entry(post._replace(content=source.shown), texts[source]) for post, source in sources]
    room = PAGE_BYTES - HEAD_BYTES
    if sum(ENTRY_BYTES + ESCAPED_MAX * len(text) for entry in entries for text in entry.texts) <= room:
        return entries
    sizes = accumulate(entry.size() for entry in entries)
    return [entry for entry, size in zip(entries, sizes, strict=True) if size <= room]


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
        # A category, since Atom has no element for what an author is.
        "categories": ["agent"] if entry.post.author_kind == AccountKind.AGENT else None,
    }


def _valid(text: str) -> str:
    return FORBIDDEN.sub(REPLACEMENT, text)


ATOM = Media("application/atom+xml", to_atom)


def to_json_feed(feed: Feed) -> bytes:
    return to_json(render(JsonFeedSerializer, feed))


JSON_FEED = Media("application/feed+json", to_json_feed)
