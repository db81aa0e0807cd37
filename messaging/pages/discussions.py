"""The discussion of a community on a page: whether it is closed, and which posts are pinned.

A discussion is closed by moderators, or by the rule `closeAfterDays`, which counts from the first top-level post of
the community that is listed on the page.

Closes the discussion of a community on a page, and reopens it. Reading, edits and deletions go on.

No post is written after a closing: each new post takes a shared lock on its page before it reads whether the discussion
is closed (`messaging.posts.targets`), and the closing takes that lock alone.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db import transaction

from kernel.cache.versions import invalidate
from kernel.database.sql import fetch_all, fetch_one
from kernel.writes.transaction import retried
from messaging.cache_tags import page_tag
from messaging.communities.moderators import moderated_community
from messaging.models import Account, Act, ClosedPage, Community
from messaging.models.moderation import PINS_MAX
from messaging.moderation.decisions import log_about_community
from messaging.moderation.exceptions import ClosingNotFound
from messaging.pages.page_ids import is_page_id
from messaging.posts.exceptions import UnknownPage, page_id_needed
from messaging.posts.shown import is_listed, is_public
from messaging.posts.targets import LOCK_SPACE

# The posts that the rule counts, by the index of what an embed shows. Its second column is this expression.
COUNTED = f"""
    SELECT m.created_at FROM messaging_message m
    WHERE m.page_id = {{page}} AND coalesce(m.community_id, m.id) = messaging_community.id
        AND m.community_id IS NOT NULL AND m.parent_id IS NULL AND {is_listed("m")}
"""  # noqa: S608  built from constants
PERIOD = "make_interval(days => messaging_community.close_after_days)"
# An expression about a row of communities and the id of a page. Posts are searched only under the rule.
IS_CLOSED_ON = f"""(
    EXISTS (
        SELECT FROM messaging_closedpage closed
        WHERE closed.page_id = {{page}} AND closed.community_id = messaging_community.id
    ) OR CASE WHEN messaging_community.close_after_days > 0 THEN EXISTS (
        {COUNTED} AND m.created_at <= statement_timestamp() - {PERIOD}
    ) ELSE false END
)"""
IS_CLOSED = IS_CLOSED_ON.format(page="%(page)s")
# The page that has this id now.
CURRENT_PAGE = "coalesce((SELECT page_id FROM messaging_movedpage WHERE old_id = %(page)s), %(page)s)"
FIND = f"""
SELECT place.page_id, closed.created_at, CASE WHEN messaging_community.close_after_days > 0 THEN (
    {COUNTED.format(page="place.page_id")} ORDER BY m.created_at, m.id LIMIT 1
) + {PERIOD} END, statement_timestamp()
FROM messaging_community
CROSS JOIN (SELECT {CURRENT_PAGE} AS page_id) place
LEFT JOIN messaging_closedpage closed
    ON closed.page_id = place.page_id AND closed.community_id = messaging_community.id
WHERE messaging_community.id = %(community)s
"""  # noqa: S608  as above
PINNED = f"""
SELECT pin.message_id FROM messaging_pin pin JOIN messaging_message m ON m.id = pin.message_id
WHERE pin.page_id = %(page)s AND pin.community_id = %(community)s AND {is_public("m")}
ORDER BY pin.id DESC LIMIT {PINS_MAX}
"""  # noqa: S608  as above


class Discussion(NamedTuple):
    """`closed_at`: when moderators closed it; `closes_at`: when the rule closes it, or has. Null: not."""

    community_id: UUID
    page_id: str
    closed: bool
    closed_at: datetime | None
    closes_at: datetime | None

    def record(self) -> dict[str, Any]:
        return self._asdict()


def discussion_of(*, community_id: UUID, page_id: str) -> Discussion | None:
    """The discussion on a page, also by an earlier id of the page; None if there is no such community."""
    row = fetch_one(FIND, {"community": community_id, "page": page_id})
    if row is None:
        return None
    current_id, closed_at, closes_at, now = row
    is_closed = closed_at is not None or (closes_at is not None and closes_at <= now)
    return Discussion(community_id, current_id, is_closed, closed_at, closes_at)


def pinned_of(page_id: str, community_id: UUID) -> list[UUID]:
    """The ids of the posts that a community has pinned on a page and that are public, the last pinned one first."""
    return [message_id for (message_id,) in fetch_all(PINNED, {"page": page_id, "community": community_id})]


FIND_PAGE = """
SELECT id, normalized_url FROM messaging_page
WHERE id = coalesce((SELECT page_id FROM messaging_movedpage WHERE old_id = %(page)s), %(page)s)
"""
LOCK_PAGE = f"SELECT pg_advisory_xact_lock({LOCK_SPACE}, hashtext(%s))"


@retried
@transaction.atomic
def close_discussion(*, community_id: UUID, page_id: str, by: Account, reason: str = "") -> ClosedPage:
    """Take no more posts of the community on the page. Repeated, it changes nothing.

    Raises CommunityNotFound (404), ModeratorRequired (403), UnknownPage (400).
    """
    community = moderated_community(community_id=community_id, by=by, lock=True)
    page = fetch_one(FIND_PAGE, {"page": page_id})
    if page is None:
        raise UnknownPage(page_id_needed(page_id), field="pageId")
    current_id, url = page
    fetch_one(LOCK_PAGE, [current_id])
    closing, is_new = ClosedPage.objects.get_or_create(community=community, page_id=current_id)
    if is_new:
        _log(community, Act.CLOSED, by=by, page_id=current_id, url=url, reason=reason)
    return closing


@retried
@transaction.atomic
def reopen_discussion(*, community_id: UUID, page_id: str, by: Account, reason: str = "") -> None:
    """Take posts again, unless the rule `closeAfterDays` does not allow it.

    Raises CommunityNotFound (404), ModeratorRequired (403), ClosingNotFound (404).
    """
    community = moderated_community(community_id=community_id, by=by, lock=True)
    # A path may have any text.
    page = fetch_one(FIND_PAGE, {"page": page_id}) if is_page_id(page_id) else None
    if page is None or not ClosedPage.objects.filter(community=community, page=page[0]).delete()[0]:
        raise ClosingNotFound
    _log(community, Act.REOPENED, by=by, page_id=page[0], url=page[1], reason=reason)


def _log(community: Community, act: Act, *, by: Account, page_id: str, url: str, reason: str) -> None:
    verb = f"Discussion {'closed' if act == Act.CLOSED else 'reopened'} on {url}"
    log_about_community(community, act, by=by, verb=verb, reason=reason, page_id=page_id)
    invalidate(page_tag(page_id))
