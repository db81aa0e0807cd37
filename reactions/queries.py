"""The SQL statements for reactions.

Each write states the reaction that it expects: it changes the reaction and the counts of its post in one statement or,
if a concurrent call of the same account changed the reaction first, changes nothing and returns no row. So the row of
the post is locked only from this statement to the commit, which matters for a post with thousands of reactions.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import orjson

from kernel.api.pagination import CursorPage, Position, envelope
from kernel.database.sql import fetch_all, fetch_one
from messaging.posts.message_fields import account_from_row
from messaging.posts.shown import is_public

# The writes of one account take turns, so that the change log has them in the order of their effects: a transaction
# gets its id at its first write, before it waits for the row. For agents, the opening statement takes the same lock.
LOCK = "SELECT pg_advisory_xact_lock(hashtext(%(account)s::uuid::text), hashtext('react'))"

STATE = f"""
SELECT m.community_id, coalesce(c.read_only, false), EXISTS (
        SELECT FROM messaging_ban ban WHERE ban.community_id = m.community_id AND ban.account_id = ANY(%(banned_with)s)
    ), r.id, r.emoji,
    coalesce((m.reaction_counts ->> %(emoji)s::text)::int, 0), m.reaction_total,
    (SELECT count(*) FROM jsonb_object_keys(m.reaction_counts))
FROM messaging_message m
LEFT JOIN messaging_community c ON c.id = m.community_id
LEFT JOIN reactions_reaction r ON r.message_id = m.id AND r.account_id = %(account)s
WHERE m.id = %(message)s AND {is_public("m")}
"""  # noqa: S608  only constants

# Without a condition on the post's status: an account may always remove its reaction.
OWNED = """
SELECT r.account_id, r.message_id, r.emoji, m.community_id
FROM reactions_reaction r JOIN messaging_message m ON m.id = r.message_id
WHERE r.id = %(reaction)s
"""

OF_ACCOUNT = "SELECT id FROM reactions_reaction WHERE account_id = %(account)s AND message_id = %(message)s"

# A count of zero becomes null, and nulls are stripped: the object contains only emoji in use.
_RAISED = "jsonb_build_object(%(emoji)s::text, coalesce((reaction_counts ->> %(emoji)s::text)::int, 0) + 1)"
_LOWERED = "jsonb_build_object(%(current)s::text, nullif((reaction_counts ->> %(current)s::text)::int - 1, 0))"

ADD = f"""
WITH written AS (
    INSERT INTO reactions_reaction (id, message_id, account_id, emoji, created_at)
    VALUES (%(reaction)s, %(message)s, %(account)s, %(emoji)s, clock_timestamp())
    ON CONFLICT (account_id, message_id) DO NOTHING RETURNING id, created_at
)
UPDATE messaging_message m
SET reaction_counts = reaction_counts || {_RAISED}, reaction_total = reaction_total + 1
FROM written WHERE m.id = %(message)s
RETURNING (reaction_counts ->> %(emoji)s::text)::int, reaction_total, page_id, community_id,
    author_id, written.created_at
"""  # noqa: S608  only constants

REPLACE = f"""
WITH written AS (
    UPDATE reactions_reaction SET emoji = %(emoji)s WHERE id = %(reaction)s AND emoji = %(current)s
    RETURNING id, created_at
)
UPDATE messaging_message m
SET reaction_counts = jsonb_strip_nulls(reaction_counts || {_LOWERED} || {_RAISED})
FROM written WHERE m.id = %(message)s
RETURNING (reaction_counts ->> %(emoji)s::text)::int, reaction_total, page_id, community_id,
    author_id, written.created_at
"""  # noqa: S608  as above

REMOVE = f"""
WITH written AS (
    DELETE FROM reactions_reaction WHERE id = %(reaction)s AND emoji = %(current)s RETURNING id, created_at
)
UPDATE messaging_message m
SET reaction_counts = jsonb_strip_nulls(reaction_counts || {_LOWERED}), reaction_total = reaction_total - 1
FROM written WHERE m.id = %(message)s
RETURNING coalesce((reaction_counts ->> %(current)s::text)::int, 0), reaction_total, page_id, community_id,
    author_id, written.created_at
"""  # noqa: S608  as above

# The post and one page of its reactions in one snapshot, so that counts and rows agree; the row of the post is first.
# `emoji <> ''` is always true: it selects the partial index (see the model). The limit is part of the text, not a
# parameter: PostgreSQL plans a parameter as an unknown limit and sorts all reactions of the post.
_LIST = f"""
WITH post AS (
    SELECT m.id, m.reaction_counts, m.reaction_total FROM messaging_message m
    WHERE m.id = %(message)s AND {is_public("m")}
), page AS (
    SELECT id, emoji, created_at, account_id FROM reactions_reaction
    WHERE message_id = (SELECT id FROM post) AND emoji <> '' {{after}}
    ORDER BY created_at DESC, id DESC LIMIT {{count:d}}
)
SELECT reaction_counts, reaction_total, NULL::uuid AS id, NULL, NULL::timestamptz AS created_at,
    NULL::uuid, NULL, NULL, NULL FROM post
UNION ALL
SELECT NULL, NULL, page.id, page.emoji, page.created_at, a.id, a.name, a.handle, a.kind
FROM page JOIN messaging_account a ON a.id = page.account_id
ORDER BY created_at DESC NULLS FIRST, id DESC
"""  # noqa: S608  as above


# The reactions of an account on a page. An account with few reactions is read from its reactions, any other from the
# posts of the page, so that neither a busy account nor a long page costs much by itself. OFFSET 0 prevents that
# PostgreSQL begins with the reactions there: a generic plan expects few of each account.
OWN_MAX = 1_000
_ON_PAGE = f"""
    SELECT m.id, own.id, own.emoji, own.created_at FROM messaging_message m CROSS JOIN LATERAL (
        SELECT r.id, r.emoji, r.created_at FROM reactions_reaction r
        WHERE r.account_id = %(account)s AND r.message_id = m.id OFFSET 0
    ) own
    WHERE m.page_id = %(page)s AND {{kind}} AND {is_public("m")} AND NOT (SELECT all_read FROM few)
"""  # noqa: S608  as above
OWN = f"""
WITH mine AS MATERIALIZED (
    SELECT message_id, id, emoji, created_at FROM reactions_reaction WHERE account_id = %(account)s LIMIT {OWN_MAX + 1}
), few AS MATERIALIZED (SELECT count(*) <= {OWN_MAX} AS all_read FROM mine)
SELECT message_id, id, emoji FROM (
    SELECT mine.* FROM mine CROSS JOIN LATERAL (
        SELECT FROM messaging_message m
        WHERE m.id = mine.message_id AND m.page_id = %(page)s AND {is_public("m")} OFFSET 0
    ) here
    WHERE (SELECT all_read FROM few)
    UNION ALL {_ON_PAGE.format(kind="m.parent_id IS NULL")}
    UNION ALL {_ON_PAGE.format(kind="m.parent_id IS NOT NULL")}
) own ORDER BY created_at DESC, id DESC LIMIT {OWN_MAX}
"""  # noqa: S608  as above


class OwnReaction(NamedTuple):
    message_id: UUID
    reaction_id: UUID
    emoji: str


def own_reactions(*, account_id: UUID, page_id: str) -> list[OwnReaction]:
    """The newest OWN_MAX reactions of an account to the published posts of a page."""
    return [OwnReaction(*row) for row in fetch_all(OWN, {"account": account_id, "page": page_id})]


def own_reaction_id(*, account_id: UUID, message_id: UUID) -> UUID | None:
    """The id of an account's reaction to a post."""
    row = fetch_one(OF_ACCOUNT, {"account": account_id, "message": message_id})
    return row[0] if row else None


def list_statement(count: int, *, is_first: bool) -> str:
    """The statement for `count` reactions: the newest ones, or those after (created_at, id)."""
    return _LIST.format(count=count, after="" if is_first else "AND (created_at, id) < (%(created_at)s, %(id)s)")


def reaction_page(*, message_id: UUID, page: CursorPage) -> dict[str, Any] | None:
    """`{messageId, total, counts, reactions, hasMore, nextCursor}`, newest first; None unless the post is published."""
    rows = _rows(message_id, page)
    if not rows:
        return None
    (counts, total, *_), *listed = rows
    shown, next_cursor = page.split(listed, _position)
    head = {"messageId": message_id, "total": total, "counts": orjson.Fragment(counts)}
    return head | envelope("reactions", [_record(row) for row in shown], next_cursor)


def _rows(message_id: UUID, page: CursorPage) -> list[Any]:
    values: dict[str, Any] = {"message": message_id}
    if page.after is not None:
        values["created_at"], values["id"] = page.after
    return fetch_all(list_statement(page.limit + 1, is_first=page.after is None), values)


def _position(row: Sequence[Any]) -> Position:
    created_at: datetime = row[4]
    return created_at, row[2]


def _record(row: Sequence[Any]) -> dict[str, Any]:
    return {"id": row[2], "emoji": row[3], "author": account_from_row(row[5:9]), "createdAt": row[4]}
