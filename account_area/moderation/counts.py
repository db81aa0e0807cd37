"""How many posts of communities wait, are public or hidden: each counted up to a bound, by an index."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from kernel.database.sql import Row, fetch_all
from messaging.models import Account, Community
from messaging.moderation.queries import RECENT

# More posts than this are shown as "99+".
MOST = 100
PENDING = "SELECT FROM messaging_message m WHERE m.community_id = place.id AND m.status = 'pending'"
# Ordered, so that PostgreSQL reads the reports in the order of their index and stops early.
REPORTED = """
SELECT DISTINCT r.message_id FROM messaging_report r WHERE r.community_id = place.id AND r.closed_at IS NULL
AND EXISTS (
    SELECT FROM messaging_message m WHERE m.id = r.message_id AND m.status IN ('published', 'pending')
) ORDER BY r.message_id
"""
HIDDEN = "SELECT FROM messaging_message m WHERE m.community_id = place.id AND m.status = 'hidden'"
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
