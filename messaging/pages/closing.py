"""Closes the discussion of a community on a page, and reopens it. Reading, edits and deletions go on.

No post is written after a closing: each new post takes a shared lock on its page before it reads whether the discussion
is closed (`messaging.posts.targets`), and the closing takes that lock alone.
"""

from __future__ import annotations

from uuid import UUID

from django.db import transaction

from kernel.cache.versions import invalidate
from kernel.database.sql import fetch_one
from kernel.writes.retries import retried
from messaging.cache_tags import page_tag
from messaging.communities.moderators import moderated_community
from messaging.models import Account, Act, ClosedPage, Community
from messaging.moderation.decisions import log_about_community
from messaging.moderation.exceptions import ClosingNotFound
from messaging.pages.page_ids import is_page_id
from messaging.posts.exceptions import UnknownPage, page_id_needed
from messaging.posts.targets import LOCK_SPACE

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
