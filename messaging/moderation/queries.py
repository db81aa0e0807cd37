"""The posts that moderators decide on: those that wait for approval, and those that readers have reported.

The search of pending and hidden posts by their words is for the admin: the search of all reads published posts alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from django.db import transaction

from kernel.api.pagination import CursorPage, envelope
from kernel.database.sql import Row, current_alias, fetch_all, fetch_one
from messaging.models import Account
from messaging.models.moderation import COUNTED_MAX, REPORTS_SHOWN_MAX, QueueState
from messaging.posts.message_fields import JOINS
from messaging.posts.message_sizes import TEXT_COLUMNS, fetch, fitting, limited
from messaging.posts.queries import message_from_row
from messaging.posts.shown import is_no_draft
from messaging.search.queries import QUERY, with_phrases

CONDITIONS = {
    QueueState.PENDING: f"m.status = 'pending' AND {is_no_draft('m')}",
    QueueState.REPORTED: f"""m.status IN ('published', 'pending') AND {is_no_draft("m")} AND EXISTS (
        SELECT FROM messaging_report r WHERE r.message_id = m.id AND r.closed_at IS NULL)""",
}
# As an array, so that PostgreSQL begins with the reports of the community: a generic plan expects those of an average
# one, and may read the pending and published posts in the order of the list.
OF_COMMUNITY = {
    QueueState.PENDING: f"m.status = 'pending' AND {is_no_draft('m')} AND m.community_id = %(community)s",
    QueueState.REPORTED: f"""m.status IN ('published', 'pending') AND {is_no_draft("m")}
        AND m.community_id = %(community)s
        AND m.id = ANY(ARRAY(
            SELECT r.message_id FROM messaging_report r WHERE r.community_id = %(community)s AND r.closed_at IS NULL
        ))""",  # noqa: S608  only constants
}
MODERATED = "m.community_id IN (SELECT community_id FROM messaging_moderator WHERE account_id = %(moderator)s)"
REPORTS = f"""
SELECT message_id, reason, note, created_at FROM (
    SELECT message_id, reason, note, created_at, row_number() OVER (PARTITION BY message_id ORDER BY id) AS number
    FROM messaging_report WHERE message_id = ANY(%s) AND closed_at IS NULL
) r WHERE number <= {REPORTS_SHOWN_MAX} ORDER BY message_id, number
"""  # noqa: S608  only constants
# Counting ends there, however many reports are open.
REPORTS_COUNTED_MAX = 1_000
COUNTS = f"""
SELECT
    (SELECT count(*) FROM (
        SELECT FROM messaging_message m WHERE m.status = 'pending' AND m.community_id = %(community)s
            AND {is_no_draft("m")}
        LIMIT {COUNTED_MAX}
    ) pending),
    (SELECT count(*) FROM (
        SELECT FROM messaging_message m WHERE m.status IN ('published', 'pending') AND m.community_id = %(community)s
            AND {is_no_draft("m")} AND m.id = ANY(ARRAY(
                SELECT r.message_id FROM messaging_report r WHERE r.community_id = %(community)s AND r.closed_at IS NULL
                LIMIT {REPORTS_COUNTED_MAX}
            ))
        LIMIT {COUNTED_MAX}
    ) reported)
"""  # noqa: S608  only constants
OLDEST, NEWEST = "m.created_at ASC, m.id ASC", "m.created_at DESC, m.id DESC"
RECENT = """coalesce(m.community_id, m.id) = %(community)s AND m.community_id IS NOT NULL
    AND m.status = 'published' AND NOT m.in_hidden_thread"""


# The index has this expression. Posts that earlier releases have hidden have no time of the decision.
HIDDEN_AT = "coalesce(decided_at, created_at)"
HIDDEN = f"""
SELECT m.id, {HIDDEN_AT} FROM messaging_message m
WHERE m.community_id = %(community)s AND m.status = 'hidden' AND {is_no_draft("m")} {{after}}
ORDER BY {HIDDEN_AT} DESC, id DESC LIMIT %(limit)s
"""  # noqa: S608  only constants


class Waiting(NamedTuple):
    """How many posts of a community wait, each at most COUNTED_MAX."""

    pending: int
    reported: int


def waiting_in(community_id: UUID) -> Waiting:
    return Waiting(*(fetch_one(COUNTS, {"community": community_id}) or (0, 0)))


def moderation_queue(
    *,
    moderator: Account,
    community_id: UUID | None,
    state: QueueState,
    page: CursorPage,
    page_id: str | None = None,
) -> dict[str, Any]:
    """`{messages, hasMore, nextCursor}`, each message with its open reports, oldest first, in two statements.

    Of one community, or of all that the account moderates; of one page, or of all. Callers check that it moderates
    `community_id`.
    """
    values: dict[str, Any] = {"moderator": moderator.pk, "community": community_id, "page": page_id}
    conditions = [(CONDITIONS if community_id is None else OF_COMMUNITY)[state]]
    if page_id is not None:
        conditions.append("m.page_id = %(page)s")
    if community_id is None and not moderator.is_superuser:
        conditions.append(MODERATED)
    if page.after is not None:
        values["created_at"], values["id"] = page.after
        conditions.append("(m.created_at, m.id) > (%(created_at)s, %(id)s)")
    return _listed(" AND ".join(conditions), values, page=page, order=OLDEST)


def recent_posts(*, community_id: UUID, page: CursorPage) -> dict[str, Any]:
    """The public posts of a community, newest first, as `moderation_queue`."""
    values: dict[str, Any] = {"community": community_id}
    where = RECENT
    if page.after is not None:
        values["created_at"], values["id"] = page.after
        where += " AND (m.created_at, m.id) < (%(created_at)s, %(id)s)"
    return _listed(where, values, page=page, order=NEWEST)


def hidden_posts(*, community_id: UUID, page: CursorPage) -> dict[str, Any]:
    """The hidden posts of a community, the last hidden first, as `moderation_queue`, in three statements."""
    values = {"community": community_id, "limit": page.limit + 1}
    after = ""
    if page.after is not None:
        values["at"], values["id"] = page.after
        after = f"AND ({HIDDEN_AT}, id) < (%(at)s, %(id)s)"
    rows, next_cursor = page.split(fetch_all(HIDDEN.format(after=after), values), lambda row: (row[1], row[0]))
    places = {post_id: place for place, (post_id, _at) in enumerate(rows)}
    posts = stored_posts(community_id=community_id, ids=list(places))
    return envelope("messages", sorted(posts, key=lambda post: places[post["id"]]), next_cursor)


def stored_posts(*, community_id: UUID, ids: Sequence[UUID]) -> list[dict[str, Any]]:
    """Those posts of a community in any status, newest first, with their open reports: all, of any size."""
    values = {"community": community_id, "ids": list(ids)}
    where = f"m.id = ANY(%(ids)s::uuid[]) AND m.community_id = %(community)s AND {is_no_draft('m')}"
    return _with_reports(fetch_all(_statement(where, limit=len(ids), order=NEWEST), values))


def _listed(where: str, values: dict[str, Any], *, page: CursorPage, order: str) -> dict[str, Any]:
    statement = _statement(where, limit=page.limit + 1, order=order)
    fetched = fetch(limited(statement, order=order.replace("m.", "")), values, is_weighed=True)
    listed = _with_reports(fetched.rows[: page.limit])
    listed = listed[: fitting(listed)]
    has_more = fetched.is_cut or len(fetched.rows) > len(listed)
    next_cursor = page.cursor_at((listed[-1]["createdAt"], listed[-1]["id"])) if has_more else None
    return envelope("messages", listed, next_cursor)


def _statement(where: str, *, limit: int, order: str) -> str:
    return f"SELECT {TEXT_COLUMNS} {JOINS} WHERE {where} ORDER BY {order} LIMIT {limit:d}"


def _with_reports(rows: Sequence[Row]) -> list[dict[str, Any]]:
    messages = [message_from_row(row) for row in rows]
    reports = open_reports_of([message["id"] for message in messages])
    return [message | {"reports": reports[message["id"]]} for message in messages]


def open_reports_of(message_ids: Sequence[UUID]) -> dict[UUID, list[dict[str, Any]]]:
    """`{reason, note, at}` of the open reports of each post, without who reported it."""
    reports: dict[UUID, list[dict[str, Any]]] = defaultdict(list)
    for message_id, reason, note, at in fetch_all(REPORTS, [list(message_ids)]) if message_ids else ():
        reports[message_id].append({"reason": reason, "note": note, "at": at})
    return reports


# The condition and the expression of the index `words_of_unpublished`. In no order: one would read all matches.
WITH_WORDS = f"""
SELECT id FROM messaging_message
WHERE status IN ('pending', 'hidden') AND messaging_search_words(content, payload) @@ ({QUERY}) LIMIT %(limit)s
"""  # noqa: S608  built from constants
# The statistics of these few posts are bad, and another plan computes the words of each of them.
BY_ITS_INDEX = "SELECT set_config('enable_seqscan', 'off', true), set_config('enable_indexscan', 'off', true)"


def ids_of_unpublished(text: str, *, limit: int) -> set[UUID]:
    """At most `limit` posts with these words. The settings end with the transaction, which is rolled back."""
    alias = current_alias()
    with transaction.atomic(using=alias):
        fetch_one(BY_ITS_INDEX)
        found = {message_id for (message_id,) in fetch_all(WITH_WORDS, {"text": with_phrases(text), "limit": limit})}
        transaction.set_rollback(True, using=alias)
    return found
