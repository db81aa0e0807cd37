"""What the pages of moderators show, each in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.utils.safestring import SafeString, mark_safe

from config.api.pagination import CursorPage
from config.database.sql import fetch_all
from messaging.deleted_accounts import NOBODY
from messaging.exceptions import CommunityNotFound
from messaging.excerpts import excerpt
from messaging.markdown.html import to_html
from messaging.models import Account, Ban, Community, Decision, Message, MessageStatus, Moderator, Page
from messaging.models.moderation import QueueState, moderated_by
from messaging.models.report import reported_posts
from messaging.queries.moderation import hidden_posts, moderation_queue, recent_posts

LISTED_MAX = 50
POSTS_OF_PAGE = 10
# Longer texts are cut in lists; the page of the post has the whole text.
TEXT_MAX = 3_000
EXCERPT = 160
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


class AuthorCounts(NamedTuple):
    """How many posts of an author a community has, in the order of COUNTED."""

    published: int
    pending: int
    hidden: int
    # Among so many latest posts of the author in all communities. None: among all.
    of_latest: int | None


@dataclass(frozen=True, slots=True)
class Card:
    """A post, with what a moderator needs to decide on it."""

    message: Mapping[str, Any]
    text: SafeString
    is_cut: bool
    attachments: list[dict[str, str]]
    parent: Message | None
    parent_excerpt: str
    author_counts: AuthorCounts | None
    is_banned: bool
    can_be_banned: bool


@dataclass(frozen=True, slots=True)
class Waiting:
    pending: int
    reported: int


def communities_of(account: Account, words: str) -> list[tuple[Community, Waiting]]:
    """The communities that the account moderates, with the numbers of posts that wait, in four queries."""
    found = moderated_by(account).order_by("name", "pk")
    if words:
        found = found.filter(name__icontains=words)
    communities = list(found[:LISTED_MAX])
    waiting = waiting_in(communities)
    return [(community, waiting[community.pk]) for community in communities]


def waiting_in(communities: Iterable[Community]) -> dict[UUID, Waiting]:
    """The numbers of pending and of reported posts of each community, in two queries."""
    ids = [community.pk for community in communities]
    pending = _counted(Message.objects.filter(community__in=ids, status=MessageStatus.PENDING))
    reported = _counted(reported_posts(Message.objects.all(), communities=ids))
    return {pk: Waiting(pending.get(pk, 0), reported.get(pk, 0)) for pk in ids}


def _counted(posts: QuerySet[Message]) -> dict[UUID, int]:
    return dict(posts.order_by().values_list("community_id").annotate(number=Count("pk")))


def community_of(*, slug: str, by: Account) -> Community:
    """The community, if the account moderates it; raises CommunityNotFound (404)."""
    community = moderated_by(by).filter(slug=slug).first()
    if community is None:
        raise CommunityNotFound
    return community


def posts_of(*, community: Community, tab: str, moderator: Account, page: CursorPage) -> dict[str, Any]:
    """`{cards, nextCursor}` of one of the tabs pending, reported, recent and hidden."""
    if tab == "recent":
        listed = recent_posts(community_id=community.pk, page=page)
    elif tab == "hidden":
        listed = hidden_posts(community_id=community.pk, page=page)
    else:
        state = QueueState(tab)
        listed = moderation_queue(moderator=moderator, community_id=community.pk, state=state, page=page)
    return {"cards": cards(listed["messages"], community), "nextCursor": listed["nextCursor"]}


def cards(messages: Sequence[Mapping[str, Any]], community: Community, *, whole: bool = False) -> list[Card]:
    """Four queries: parents, the authors' posts, bans, and who cannot be banned."""
    # Of erased authors, nothing is known.
    authors = {message["author"]["id"] for message in messages} - {NOBODY}
    parents = (
        Message.objects.select_related("author")
        .only("content", "author__name", "author__handle")
        .in_bulk([message["parentId"] for message in messages if message["parentId"]])
    )
    counts = _counts_of(authors, community)
    banned = set(Ban.objects.filter(community=community, account__in=authors).values_list("account_id", flat=True))
    deciders = Account.objects.filter(pk__in=authors).filter(
        Q(is_superuser=True) | Exists(Moderator.objects.filter(community=community, account=OuterRef("pk")))
    )
    safe = set(deciders.values_list("pk", flat=True))
    return [
        _card(message, parents.get(message["parentId"]), counts, banned=banned, safe=safe, whole=whole)
        for message in messages
    ]


def _counts_of(authors: Iterable[UUID], community: Community) -> dict[UUID, AuthorCounts]:
    counts = {}
    for author, read, *numbers in fetch_all(COUNTS, [list(authors), *[community.pk] * len(COUNTED), COUNTED_MAX]):
        published, pending, hidden = numbers
        counts[author] = AuthorCounts(published, pending, hidden, of_latest=read if read == COUNTED_MAX else None)
    return counts


def _card(
    message: Mapping[str, Any],
    parent: Message | None,
    counts: Mapping[UUID, AuthorCounts],
    *,
    banned: set[UUID],
    safe: set[UUID],
    whole: bool,
) -> Card:
    content, author = message["content"], message["author"]["id"]
    is_cut = not whole and len(content) > TEXT_MAX
    return Card(
        message=message,
        # Escaped by `to_html`.
        text=mark_safe(to_html(content[:TEXT_MAX] if is_cut else content)),  # noqa: S308  # nosec B308 B703
        is_cut=is_cut,
        # JSON of the database is rendered unchanged in the API, so it is text here.
        attachments=orjson.loads(orjson.dumps(message["attachments"])),
        parent=parent,
        parent_excerpt=excerpt(parent.content, EXCERPT) if parent else "",
        author_counts=counts.get(author),
        is_banned=author in banned,
        can_be_banned=author != NOBODY and author not in safe,
    )


def decisions_of(community: Community, *, before: int | None) -> list[Decision]:
    """The decisions on a community, newest first; one more than a page shows, if others follow."""
    url = Page.objects.filter(pk=OuterRef("page_id")).values("normalized_url")
    found = Decision.objects.filter(community=community).select_related("by", "account", "message")
    found = found.annotate(page_url=Subquery(url))
    if before is not None:
        found = found.filter(pk__lt=before)
    return list(found.order_by("-pk")[: LISTED_MAX + 1])


def bans_of(community: Community, *, before: int | None) -> list[Ban]:
    """Newest first; one more than a page shows, if others follow."""
    found = community.bans.select_related("account")
    if before is not None:
        found = found.filter(pk__lt=before)
    return list(found.order_by("-pk")[: LISTED_MAX + 1])


def account_called(handle: str) -> Account | None:
    return Account.objects.filter(handle=handle.removeprefix("@").lower()).first()
