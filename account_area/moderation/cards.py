"""Posts with what a moderator needs to decide on them, in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from django.db.models import Exists, OuterRef, Q
from django.utils.functional import Promise
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext_lazy as _

from embeds.schemes import Page, addresses_of
from kernel.database.sql import fetch_all
from messaging.accounts.deleted import HEIRS, NOBODY
from messaging.markdown.html import to_html
from messaging.models import (
    Account,
    Ban,
    ClosedPage,
    Community,
    Message,
    MessageStatus,
    Moderator,
    Pin,
    PreModeration,
)
from messaging.posts.excerpts import excerpt

# Longer texts are cut in lists; the page of the post has the whole text.
TEXT_MAX = 3_000
EXCERPT = 160
# In lists, the first reports of a post; the page of the post has more.
REPORTS_MAX = 5
# The posts of an author that are counted, the latest ones of all communities, by the index of the author's posts.
COUNTED_MAX = 200
COUNTED = (MessageStatus.PUBLISHED.value, MessageStatus.PENDING.value, MessageStatus.HIDDEN.value)
HERE = ", ".join(f"count(*) FILTER (WHERE community_id = %s AND status = '{status}')" for status in COUNTED)
COUNTS = f"""
SELECT author.id, latest.* FROM unnest(%s::uuid[]) AS author (id), LATERAL (
    SELECT count(*), {HERE} FROM (
        SELECT community_id, status FROM messaging_message WHERE author_id = author.id ORDER BY id DESC LIMIT %s
    ) posts
) latest
"""  # noqa: S608  built from constants
BY_REPORTS = _("Readers reported it, so it waits.")
BY_RETURN = _("It was public. A moderator returned it to review, or reports did that are closed now.")
BY_EDIT = _("Its author edited it after it was public, and edits wait here too.")
BY_RULE_FOR_ALL = _("By the rules of this community, all posts wait for approval.")
BY_RULE_FOR_AGENTS = _("By the rules of this community, posts of agents wait for approval.")
BY_EARLIER_RULE = _("It had to wait when it was written or imported.")


class AuthorCounts(NamedTuple):
    """How many posts of an author a community has, in the order of COUNTED."""

    published: int
    pending: int
    hidden: int
    # Among so many latest posts of the author in all communities. None: among all.
    of_latest: int | None

    @property
    def can_be_hidden(self) -> bool:
        """Whether posts of the author are left to hide, as far as they are counted."""
        return bool(self.published or self.pending or self.of_latest)


@dataclass(frozen=True, slots=True)
class Context:
    """The post that a post answers or quotes. Of one whose author nobody knows any more, there is no name.

    `is_here`: in this community. Another one may have hidden it, so its text is shown only while it is public.
    """

    pk: UUID
    name: str
    excerpt: str
    status: str
    is_here: bool


@dataclass(frozen=True, slots=True)
class Card:
    """`author_counts` and what follows is for moderators alone."""

    message: Mapping[str, Any]
    text: SafeString
    is_cut: bool
    attachments: list[dict[str, str]]
    # At which the page opens.
    page_address: str
    parent: Context | None = None
    quote: Context | None = None
    author_counts: AuthorCounts | None = None
    is_banned: bool = False
    can_be_banned: bool = False
    reports: Sequence[Mapping[str, Any]] = ()
    reports_left: int = 0
    held_because: str | Promise = ""
    is_pinned: bool = False
    # Moderators have closed the discussion of the community on the page.
    is_closed: bool = False

    @property
    def can_be_pinned(self) -> bool:
        is_first = self.message["parentId"] is None
        return is_first and self.message["status"] == MessageStatus.PUBLISHED and not self.is_pinned


def public_cards(messages: Sequence[Mapping[str, Any]]) -> list[Card]:
    """Public posts as every reader sees them: without reports, bans and numbers."""
    addresses = addresses_of(_pages_of(messages))
    return [Card(message, *_content_of(message, whole=False), addresses[_page_of(message)]) for message in messages]


def cards(messages: Sequence[Mapping[str, Any]], community: Community, *, whole: bool = False) -> list[Card]:
    """Seven queries, however many posts: what they answer and quote, their authors' posts, bans, who cannot be banned,
    schemes of pages, pins and closed pages.
    """
    # Nothing is known of erased authors.
    authors = {message["author"]["id"] for message in messages} - {NOBODY}
    posts = (
        Message.objects.select_related("author")
        .only(
            *("content", "status", "community", "held_after_edit", "held_after_reports"),
            "author__name",
            "author__handle",
        )
        .in_bulk(_ids_of(messages))
    )
    counts = _counts_of(authors, community)
    banned = set(Ban.objects.filter(community=community, account__in=authors).values_list("account_id", flat=True))
    deciders = Account.objects.filter(pk__in=authors).filter(
        Q(is_superuser=True) | Exists(Moderator.objects.filter(community=community, account=OuterRef("pk")))
    )
    safe = set(deciders.values_list("pk", flat=True))
    addresses = addresses_of(_pages_of(messages))
    found = [
        _card(message, addresses, community, posts, counts, banned=banned, safe=safe, whole=whole)
        for message in messages
    ]
    return _with_places(found, community)


def _with_places(found: list[Card], community: Community) -> list[Card]:
    """The cards with what is pinned and closed."""
    pages = {card.message["pageId"] for card in found}
    pinned = set(Pin.objects.filter(community=community, page__in=pages).values_list("message_id", flat=True))
    closed = set(ClosedPage.objects.filter(community=community, page__in=pages).values_list("page_id", flat=True))
    return [
        replace(card, is_pinned=card.message["id"] in pinned, is_closed=card.message["pageId"] in closed)
        for card in found
    ]


def _pages_of(messages: Iterable[Mapping[str, Any]]) -> set[Page]:
    return {_page_of(message) for message in messages}


def _page_of(message: Mapping[str, Any]) -> Page:
    return message["communityId"], message["pageUrl"]


def _ids_of(messages: Iterable[Mapping[str, Any]]) -> set[UUID]:
    """The posts themselves, and those that they answer and quote."""
    return {message[name] for message in messages for name in ("id", "parentId", "quoteId") if message[name]}


def _counts_of(authors: Iterable[UUID], community: Community) -> dict[UUID, AuthorCounts]:
    counts = {}
    for author, read, *numbers in fetch_all(COUNTS, [list(authors), *[community.pk] * len(COUNTED), COUNTED_MAX]):
        published, pending, hidden = numbers
        counts[author] = AuthorCounts(published, pending, hidden, of_latest=read if read == COUNTED_MAX else None)
    return counts


def _card(
    message: Mapping[str, Any],
    addresses: Mapping[Page, str],
    community: Community,
    posts: Mapping[UUID, Message],
    counts: Mapping[UUID, AuthorCounts],
    *,
    banned: set[UUID],
    safe: set[UUID],
    whole: bool,
) -> Card:
    author, reports = message["author"]["id"], message["reports"]
    shown = reports if whole else reports[:REPORTS_MAX]
    return Card(
        message,
        *_content_of(message, whole=whole),
        addresses[_page_of(message)],
        parent=_context(posts.get(message["parentId"]), community),
        quote=_context(posts.get(message["quoteId"]), community, is_public=message["quote"] is not None),
        author_counts=counts.get(author),
        is_banned=author in banned,
        can_be_banned=author != NOBODY and author not in safe,
        reports=shown,
        reports_left=len(reports) - len(shown),
        held_because=_held_because(message, posts.get(message["id"]), community),
    )


def _content_of(message: Mapping[str, Any], *, whole: bool) -> tuple[SafeString, bool, list[dict[str, str]]]:
    content = message["content"]
    is_cut = not whole and len(content) > TEXT_MAX
    # Escaped by `to_html`.
    text = mark_safe(to_html(content[:TEXT_MAX] if is_cut else content))  # noqa: S308  # nosec B308 B703
    # JSON of the database is rendered unchanged in the API, so it is text here.
    return text, is_cut, orjson.loads(orjson.dumps(message["attachments"]))


def _context(post: Message | None, community: Community, *, is_public: bool = False) -> Context | None:
    if post is None:
        return None
    is_here = post.community_id == community.pk
    is_shown = is_here or is_public
    is_known = is_shown and post.status != MessageStatus.DELETED and post.author.handle not in HEIRS
    text, name = excerpt(post.content, EXCERPT) if is_shown else "", post.author.name if is_known else ""
    return Context(post.pk, name, text, post.status, is_here)


def _held_because(message: Mapping[str, Any], post: Message | None, community: Community) -> str | Promise:
    """Why a pending post waits."""
    if post is None or message["status"] != MessageStatus.PENDING:
        return ""
    if post.held_after_reports:
        return BY_REPORTS if message["reports"] else BY_RETURN
    if post.held_after_edit:
        return BY_EDIT
    if not community.needs_approval(message["author"]["kind"]):
        return BY_EARLIER_RULE
    return BY_RULE_FOR_ALL if community.pre_moderation == PreModeration.EVERYONE else BY_RULE_FOR_AGENTS
