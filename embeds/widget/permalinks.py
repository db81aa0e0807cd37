"""The page of a permalink: it shows the thread, and goes on to the page of the post if its community vouches for it."""

from __future__ import annotations

from typing import Any, NamedTuple
from urllib.parse import urlsplit
from uuid import UUID

import orjson
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import mark_safe

from embeds import domains
from embeds.places import place_of
from embeds.widget import context
from embeds.widget.context import page
from kernel.api import throttling
from kernel.api.exception_handler import error_response, read_only
from kernel.api.exceptions import InvalidCursor, RateLimited
from kernel.api.ids import is_id
from kernel.api.pagination import LIMIT_MAX, CursorPage
from kernel.cache.rendering import to_json
from messaging.feeds.renderings import Source, render_texts
from messaging.markdown.html import Rendered
from messaging.pages.permalinks import place_on_page
from messaging.posts.excerpts import shortened, title_of
from messaging.posts.lists import MessageList, Sort, list_messages
from messaging.posts.queries import DELETED, visible_message

DESCRIPTION_MAX = 300
# How much is shown of quotes and of the posts around the linked one. These are up to a hundred, and parsed each time.
QUOTE_MAX, CONTEXT_MAX = 1_000, 3_000


@read_only
@page
def permalink(request: HttpRequest, id: str) -> HttpResponse:
    """Render the page of a post, or 404 if the post is not public."""
    try:
        throttling.hit_read(request, "permalink")
    except RateLimited as refusal:
        return error_response(refusal)
    words = context.language(request)
    linked = visible_message(UUID(id)) if is_id(id) else None
    if linked is None:
        response = render(request, "pages/post_missing.html", words, status=404)
    else:
        thread = _thread(linked, request.GET.get("cursor"))
        preview = _preview(linked, thread["post"], words["words"]["panel"]["deleted"])
        response = render(request, "pages/post.html", words | preview | thread)
    response.headers["Vary"] = "Accept-Language"
    return response


class Replies(NamedTuple):
    shown: list[Any]
    next_cursor: str | None


def _preview(linked: dict[str, Any], post: dict[str, Any], deleted: str) -> dict[str, Any]:
    """What the link of the post shows in other services; `deleted`: the word for a tombstone."""
    page_url = post["pageUrl"]
    place = place_of(message_id=linked["id"], community_id=linked["communityId"], page_url=page_url)
    host = urlsplit(page_url).netloc
    # The normalised URL is https, which a site that is tried out on the own machine seldom is.
    origin = f"http://{host}" if domains.is_host(host) and domains.is_loopback(host) else None
    title = title_of(post["plain"], author=post["author"]["name"], is_reply=post["parentId"] is not None)
    return {
        "goes_on": place is not None,
        "place": place or place_on_page(page_url, linked["id"], origin),
        "host": urlsplit(place).netloc if place else host,
        "site": urlsplit(page_url).hostname,
        "title": deleted if post["status"] == DELETED else title,
        "description": shortened(post["plain"] or " ".join(post["texts"]), DESCRIPTION_MAX),
    }


def _thread(linked: dict[str, Any], cursor: str | None) -> dict[str, Any]:
    """The post, the one that it answers, and its replies, oldest first."""
    parent_id = linked["parentId"]
    parent = None if parent_id is None else visible_message(parent_id)
    replies = _replies(linked, cursor)
    around = [reply for reply in (parent, *replies.shown) if reply]
    shown = [_sources(linked, None), *(_sources(message, CONTEXT_MAX) for message in around)]
    texts = render_texts(source for sources in shown for source in sources.values())
    post, *others = (_plain(message, sources, texts) for message, sources in zip([linked, *around], shown, strict=True))
    return {
        "post": post,
        "parent": others.pop(0) if parent else None,
        "replies": others,
        "next_cursor": replies.next_cursor,
    }


def _replies(message: dict[str, Any], cursor: str | None) -> Replies:
    page = _cursor_page(message["id"], cursor)
    asked = MessageList(message["pageId"], message["id"], sort=Sort.OLDEST)
    shown, next_position = list_messages(asked, after=page.after, limit=page.limit)
    return Replies(shown, None if next_position is None else page.cursor_at(next_position))


def _cursor_page(message_id: UUID, cursor: str | None) -> CursorPage:
    """The page of replies; the first one for a cursor that this page has not issued."""
    query = {"limit": LIMIT_MAX}
    try:
        return CursorPage.of("thread", {**query, "cursor": cursor}, message=message_id)
    except InvalidCursor:
        return CursorPage.of("thread", query, message=message_id)


def _sources(message: dict[str, Any], size: int | None) -> dict[str, Source]:
    """What is shown of the texts of a message: `size` characters of its content, and the beginning of its quote."""
    content, quote = message["content"], message["quote"]
    sources = {"content": Source(message["id"], content, content[:size])}
    if quote:
        sources["quote"] = Source(quote["id"], quote["content"], quote["content"][:QUOTE_MAX])
    return sources


def _plain(message: dict[str, Any], sources: dict[str, Source], texts: dict[Source, Rendered]) -> dict[str, Any]:
    """The message as clients get it, the texts of its payload, and what is shown of its content and its quote."""
    plain: dict[str, Any] = orjson.loads(to_json(message))
    text, quote = texts[sources["content"]], sources.get("quote")
    return plain | {
        "plain": text.plain,
        "texts": [text for text in (plain["payload"] or {}).values() if isinstance(text, str)],
        "html": mark_safe(text.html),  # noqa: S308  # nosec B308 B703  it escapes every text
        "is_cut": sources["content"].shown != plain["content"],
        "quoted": _quoted(quote, texts) if quote else "",
    }


def _quoted(quote: Source, texts: dict[Source, Rendered]) -> str:
    return texts[quote].plain + ("…" if quote.shown != quote.content else "")
