"""The newest public posts of a page, or its newest replies, as SQL: of what an embed shows, among a bounded number.

No index has all posts of a page: PostgreSQL would use it for the lists of a page with many replies. So posts and
replies are read from one index each.
"""

from __future__ import annotations

from messaging.posts.shown import Shown
from messaging.posts.visibility import is_public

# So many posts of a page that an embed does not show are passed over; fewer where the thread of each is walked.
PASSED_MAX, WALKED_MAX = 5_000, 500
NEWEST_FIRST = "ORDER BY m.created_at DESC, m.id DESC"


def newest_of_page(
    columns: str, *, of_replies: bool, limit: int, shown: Shown | None = None, page: str = "%(page)s"
) -> str:
    """A statement for `columns` of a row `m` of messages. The limits are literals, as in `message_lists`."""
    rows = f"m.page_id = {page} AND m.parent_id IS {'NOT NULL' if of_replies else 'NULL'} AND {is_public('m')}"
    condition = "true"
    if shown is not None:
        # Only a reply has posts above it that may be hidden there.
        condition = shown.any("m") if of_replies else shown.posts("m")
    if shown is None or condition == "true" or not (of_replies or shown.everyone):
        # An index has these rows alone.
        return f"SELECT {columns} FROM messaging_message m WHERE {rows} AND {condition} {NEWEST_FIRST} LIMIT {limit}"  # noqa: S608  constants
    passed_max = WALKED_MAX if shown.everyone else PASSED_MAX
    passed = f"SELECT m.* FROM messaging_message m WHERE {rows} {NEWEST_FIRST} LIMIT {passed_max}"  # noqa: S608  as above
    return f"SELECT {columns} FROM ({passed}) m WHERE {condition} {NEWEST_FIRST} LIMIT {limit}"  # noqa: S608  as above
