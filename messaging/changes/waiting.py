"""Tells the moderators of a community in their inboxes that a post waits for them: reported, or for approval.

A moderator gets at most one event of a kind and community in TOLD_MINUTES, with the number of posts that wait then. Of
two writes at once, the second one waits for the first one's lock and sees its time. Nobody is told of their own report
or post, and super admins are told where they moderate by name. Mails are made of other rows (`service_events`).
"""

from __future__ import annotations

from uuid import UUID

from kernel.changes import wakeups
from kernel.database.sql import execute
from messaging.changes.types import InboxType

TOLD_MINUTES = 10
COUNT_MAX = 1_000
# How many posts wait, with the one that is not inserted yet.
PENDING = """
    SELECT FROM messaging_message m WHERE m.community_id = %(community)s AND m.status = 'pending'
    UNION ALL SELECT WHERE %(is_new)s
"""
REPORTED = """
    SELECT DISTINCT m.id FROM messaging_report r JOIN messaging_message m ON m.id = r.message_id
    WHERE r.community_id = %(community)s AND r.closed_at IS NULL AND m.status IN ('published', 'pending')
"""
# The condition is stated where the rows are locked: PostgreSQL checks it again on a row that it had to wait for.
TELL = """
WITH due AS (
    SELECT moderator.id FROM messaging_moderator moderator
    JOIN messaging_account account ON account.id = moderator.account_id
    WHERE moderator.community_id = %(community)s AND moderator.account_id <> %(by)s
        AND account.is_active AND account.erasure_due_at IS NULL
        AND coalesce(moderator.{column}, '-infinity') <= clock_timestamp() - interval '{minutes} minutes'
    ORDER BY moderator.id FOR NO KEY UPDATE OF moderator
), told AS (
    UPDATE messaging_moderator moderator SET {column} = clock_timestamp() FROM due
    WHERE moderator.id = due.id RETURNING moderator.account_id
)
INSERT INTO changes_change (type, page_id, community_id, message_id, account_id, data)
SELECT %(type)s, %(page)s, %(community)s, %(message)s, told.account_id, jsonb_build_object(
    'communityId', %(community)s::uuid, 'count', (SELECT count(*) FROM ({waiting} LIMIT {limit}) waiting)
) FROM told
"""
STATEMENTS = {
    kind: TELL.format(column=column, waiting=waiting, minutes=TOLD_MINUTES, limit=COUNT_MAX)
    for kind, column, waiting in (
        (InboxType.POST_PENDING, "told_of_pending_at", PENDING),
        (InboxType.POST_REPORTED, "told_of_reports_at", REPORTED),
    )
}


def tell_moderators(
    kind: InboxType, *, page_id: str, community_id: UUID | None, message_id: UUID, by: UUID, is_new: bool = False
) -> None:
    """One statement, in the transaction of the write. `by`: who has reported or written the post.

    `is_new`: the post is inserted by a later statement.
    """
    if community_id is None:
        return
    values = {"type": kind, "page": page_id, "community": community_id, "message": message_id, "by": by}
    if kind == InboxType.POST_PENDING:
        values["is_new"] = is_new
    if execute(STATEMENTS[kind], values):
        wakeups.announce()
