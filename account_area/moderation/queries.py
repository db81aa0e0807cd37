"""What the pages of moderators show, each in a fixed number of queries.

The list that a form of a moderator was on: that of the community, or of one of its sites.

How many posts of communities wait, are public or hidden: each counted up to a bound, by an index.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, Subquery
from django.http import HttpRequest
from django.urls import Resolver404, resolve, reverse

from account_area.moderation.cards import cards, public_cards
from kernel.api.pagination import CursorPage
from kernel.database.sql import Row, fetch_all
from messaging.models import Account, Ban, BulkJob, ChangedRow, Community, Decision, JobState, Page
from messaging.models.moderation import QueueState, moderated_by
from messaging.moderation.queries import RECENT, hidden_posts, moderation_queue, recent_posts
from messaging.posts.exceptions import CommunityNotFound
from messaging.posts.shown import is_no_draft

OF_SITE = "site-posts"
# What a link to a list has; the rest of its address is about an earlier decision.
SHOWN = ("state", "cursor")


def list_url(request: HttpRequest, community: Community, told: Iterable[tuple[str, str]] = ()) -> str:
    """The address that the form has sent, if it is one of this service's lists. `told`: what the list is to say."""
    own = reverse("moderation", args=[community.slug])
    try:
        parts = urlsplit(request.POST.get("back", ""))
    except ValueError:
        parts = urlsplit("")
    is_ours = not parts.netloc and not parts.scheme and (parts.path.startswith(own) or _is_of_site(parts.path))
    query = [(name, value) for name, value in parse_qsl(parts.query) if name in SHOWN] + list(told)
    path = parts.path if is_ours else own
    return f"{path}?{urlencode(query)}" if query else path


def _is_of_site(path: str) -> bool:
    try:
        return resolve(path).url_name == OF_SITE
    except Resolver404:
        return False


# More posts than this are shown as "99+".
MOST = 100
OF_PLACE = f"SELECT FROM messaging_message m WHERE m.community_id = place.id AND {is_no_draft('m')}"
PENDING = f"{OF_PLACE} AND m.status = 'pending'"
# Ordered, so that PostgreSQL reads the reports in the order of their index and stops early.
REPORTED = f"""
SELECT DISTINCT r.message_id FROM messaging_report r WHERE r.community_id = place.id AND r.closed_at IS NULL
AND EXISTS (
    SELECT FROM messaging_message m WHERE m.id = r.message_id AND m.status IN ('published', 'pending')
    AND {is_no_draft("m")}
) ORDER BY r.message_id
"""  # noqa: S608  only constants
HIDDEN = f"{OF_PLACE} AND m.status = 'hidden'"
PUBLIC = f"SELECT FROM messaging_message m WHERE {RECENT % {'community': 'place.id'}}"


def _count(posts: str) -> str:
    return f"(SELECT count(*) FROM ({posts} LIMIT {MOST}) counted)"  # noqa: S608  only constants


OF_COMMUNITIES = f"SELECT place.id, {_count(PENDING)}, {_count(REPORTED)} FROM unnest(%s::uuid[]) place (id)"  # noqa: S608
MODERATED = """
WHERE %s OR EXISTS (
    SELECT FROM messaging_moderator moderator WHERE moderator.community_id = place.id AND moderator.account_id = %s
)
"""
OF_STATES = f"SELECT {', '.join(map(_count, (PENDING, REPORTED, PUBLIC, HIDDEN)))} FROM (SELECT %s::uuid AS id) place"  # noqa: S608
OF_MODERATOR = f"""
SELECT * FROM (
    SELECT community.id, {_count(PENDING)} AS pending, {_count(REPORTED)} AS reported
    FROM messaging_moderator moderator
    JOIN messaging_community community ON community.id = moderator.community_id
    CROSS JOIN LATERAL (SELECT community.id) place
    WHERE moderator.account_id = %s ORDER BY community.name, community.id
) waiting WHERE pending + reported > 0 LIMIT %s
"""  # noqa: S608  only constants


@dataclass(frozen=True, slots=True)
class Waiting:
    pending: int
    reported: int

    @property
    def total(self) -> int:
        return self.pending + self.reported


NOTHING = Waiting(0, 0)


def waiting_in(community_ids: Iterable[UUID]) -> dict[UUID, Waiting]:
    """The numbers of pending and of reported posts of each community, in one query."""
    return _waiting(fetch_all(OF_COMMUNITIES, [list(community_ids)]))


def waiting_for(account: Account, community_ids: Iterable[UUID]) -> dict[UUID, Waiting]:
    """Count what waits in those of the communities that the account moderates, as `waiting_in` does."""
    return _waiting(fetch_all(OF_COMMUNITIES + MODERATED, [list(community_ids), account.is_superuser, account.pk]))


def _waiting(rows: Iterable[Row]) -> dict[UUID, Waiting]:
    return {pk: Waiting(pending, reported) for pk, pending, reported in rows}


def waiting_of(account: Account, *, limit: int) -> dict[Community, Waiting]:
    """The communities of a moderator in which posts wait, by name. A super admin has those of the service elsewhere."""
    rows = fetch_all(OF_MODERATOR, [account.pk, limit])
    communities = Community.objects.in_bulk([pk for pk, *_numbers in rows])
    return {communities[pk]: Waiting(pending, reported) for pk, pending, reported in rows if pk in communities}


def numbers_of(community: Community) -> dict[str, int]:
    """The number of posts in each state of the queue."""
    ((pending, reported, recent, hidden),) = fetch_all(OF_STATES, [community.pk])
    return {"pending": pending, "reported": reported, "recent": recent, "hidden": hidden}


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
