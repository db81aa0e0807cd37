"""The content of a feed, the same in both formats: titles and names are plain text, a post is HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from html import escape
from itertools import accumulate
from uuid import UUID, uuid5

from django.conf import settings

from kernel.cache.rendering import to_json
from messaging.feeds.queries import FeedPost
from messaging.feeds.renderings import Source, render_texts
from messaging.markdown.html import Rendered
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
