"""Restores the reactions that posts of our own exports have.

A post may have 50,000, with as many accounts: they are written after the posts, in short transactions of their own.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from django.db import reset_queries, transaction

from kernel.api.ids import new_id
from kernel.cache.rendering import to_json
from kernel.database.sql import execute, fetch_all
from kernel.writes.transaction import retried
from messaging.accounts.deleted import HEIR_IDS
from messaging.cache_tags import message_tag, page_tag
from moving.imports.authors import accounts_of
from moving.imports.progress import Step, Tell, lock_source, require_writable
from moving.imports.writing import invalidate_tags
from moving.models import ImportedPost, Move

# In one transaction, with three rows for each new account.
BATCH = 2_500
STAGED = """
SELECT post.source_id, author.source_id, name, email, kind, emoji, at, reaction.number = last_reaction
FROM reaction JOIN post ON post.number = reaction.post JOIN author ON author.number = reaction.author
ORDER BY reaction.number
"""
# Locks the posts: people who react meanwhile change the same counts.
LACKING = """
SELECT imported.source_id, message.id, message.page_id FROM moving_importedpost imported
JOIN messaging_message message ON message.id = imported.message_id
WHERE imported.community_id = %s AND imported.format = %s AND imported.source_id = ANY(%s::text[])
    AND imported.lacks_reactions
ORDER BY message.id FOR NO KEY UPDATE OF message
"""
ADD_REACTIONS = """
INSERT INTO reactions_reaction (id, message_id, account_id, emoji, created_at)
SELECT id, message_id, account_id, emoji, created_at FROM json_to_recordset(%s::json)
    AS reaction (id uuid, message_id uuid, account_id uuid, emoji text, created_at timestamptz)
ON CONFLICT (account_id, message_id) DO NOTHING
"""
COUNT_REACTIONS = """
UPDATE messaging_message message SET reaction_counts = counted.counts, reaction_total = counted.total
FROM (
    SELECT message_id, jsonb_object_agg(emoji, number) AS counts, sum(number) AS total FROM (
        SELECT message_id, emoji, count(*) AS number FROM reactions_reaction
        WHERE message_id = ANY(%s::uuid[]) GROUP BY message_id, emoji
    ) of_emoji GROUP BY message_id
) counted WHERE message.id = counted.message_id
"""


class StagedReaction(NamedTuple):
    """The author has the names of `StagedPost`."""

    post_id: str
    author_id: str
    author_name: str
    author_email: str
    author_kind: str
    emoji: str
    at: str
    is_last: bool


def restore_reactions(staged: sqlite3.Connection, *, move: Move, total: int, tell: Tell) -> None:
    """Also those of posts that a run has written which was stopped. A further run finds nothing to do.

    `total`: how many reactions are staged.
    """
    cursor, done = staged.execute(STAGED), 0
    while rows := cursor.fetchmany(BATCH):
        reset_queries()
        _restore([StagedReaction(*row) for row in rows], move=move)
        done += len(rows)
        tell(Step("reacting", done, total))


@retried
@transaction.atomic
def _restore(reactions: Sequence[StagedReaction], *, move: Move) -> None:
    lock_source(move)
    require_writable(move)
    sources = list({reaction.post_id for reaction in reactions})
    rows = fetch_all(LACKING, [move.community_id, move.format, sources])
    if not rows:
        return
    posts: dict[str, UUID] = {source_id: message_id for source_id, message_id, _page_id in rows}
    _add([reaction for reaction in reactions if reaction.post_id in posts], posts, move)
    execute(COUNT_REACTIONS, [list(posts.values())])
    complete = [posts[reaction.post_id] for reaction in reactions if reaction.is_last and reaction.post_id in posts]
    ImportedPost.objects.filter(message_id__in=complete).update(lacks_reactions=False)
    invalidate_tags([*map(message_tag, posts.values()), *{page_tag(page_id) for *_post, page_id in rows}])


def _add(reactions: Sequence[StagedReaction], posts: dict[str, UUID], move: Move) -> None:
    accounts = accounts_of(reactions, move=move)
    rows = [
        {
            "id": new_id(),
            "message_id": posts[reaction.post_id],
            "account_id": accounts[reaction.author_id],
            "emoji": reaction.emoji,
            "created_at": reaction.at,
        }
        for reaction in reactions
        # Erased people have none.
        if accounts[reaction.author_id] not in HEIR_IDS.values()
    ]
    execute(ADD_REACTIONS, [to_json(rows).decode()])
