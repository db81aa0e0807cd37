"""What the pages of moderators show, each in a fixed number of queries."""

from __future__ import annotations

from typing import Any

from django.db.models import Exists, OuterRef, Q, Subquery

from account_area.moderation.cards import cards, public_cards
from account_area.moderation.counts import Waiting, waiting_in
from kernel.api.pagination import CursorPage
from messaging.models import Account, Ban, BulkJob, ChangedRow, Community, Decision, JobState, Page
from messaging.models.moderation import QueueState, moderated_by
from messaging.moderation.queries import hidden_posts, moderation_queue, recent_posts
from messaging.posts.exceptions import CommunityNotFound

LISTED_MAX = 50
POSTS_OF_PAGE = 10
HIDINGS_MAX = 5


def communities_of(account: Account, words: str) -> list[tuple[Community, Waiting]]:
    """The communities that the account moderates, with the numbers of posts that wait, in two queries."""
    found = moderated_by(account).order_by("name", "pk")
    if words:
        found = found.filter(name__icontains=words)
    communities = list(found[:LISTED_MAX])
    waiting = waiting_in(community.pk for community in communities)
    return [(community, waiting[community.pk]) for community in communities]


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


def public_posts_of(*, community: Community, page: CursorPage) -> dict[str, Any]:
    """`{cards, nextCursor}` of what every reader sees, for who does not moderate the community."""
    listed = recent_posts(community_id=community.pk, page=page)
    return {"cards": public_cards(listed["messages"]), "nextCursor": listed["nextCursor"]}


def hidings_of(community: Community) -> list[BulkJob]:
    """The latest jobs of moderators on all posts of an author that run, or can be undone."""
    is_left = Exists(ChangedRow.objects.filter(job=OuterRef("pk")))
    jobs = BulkJob.objects.filter(is_left | Q(state=JobState.RUNNING), community=community, kind=BulkJob.HIDE_POSTS)
    return list(jobs.select_related("about", "by").defer("ids", "undoes").order_by("-pk")[:HIDINGS_MAX])


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
