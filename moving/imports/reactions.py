"""Restores the reactions that posts of our own exports have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple
from uuid import UUID

import orjson

from config.api.ids import new_id
from config.cache.rendering import to_json
from config.database.sql import execute
from moving.formats.own import author_of
from moving.imports import texts
from moving.imports.authors import Writer, accounts_of
from moving.models import Move

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


class _Reaction(NamedTuple):
    writer: Writer
    emoji: str
    at: str


def restore_reactions(extras: Mapping[UUID, str | None], *, move: Move) -> None:
    """Add and count the reactions of new posts, by the id of the post, in the transaction that adds the posts."""
    found = {post_id: list(_reactions(extra)) for post_id, extra in extras.items() if extra}
    accounts = accounts_of((reaction.writer for each in found.values() for reaction in each), move=move)
    rows = [
        {
            "id": new_id(),
            "message_id": post_id,
            "account_id": accounts[reaction.writer.author_id],
            "emoji": reaction.emoji,
            "created_at": reaction.at,
        }
        for post_id, each in found.items()
        for reaction in each
    ]
    if rows:
        execute(ADD_REACTIONS, [to_json(rows).decode()])
        execute(COUNT_REACTIONS, [[post_id for post_id, each in found.items() if each]])


def _reactions(extra: str) -> Iterator[_Reaction]:
    for value in orjson.loads(extra).get("reactions", ()):
        author = author_of(value["author"])
        kind = "agent" if value["author"].get("kind") == "agent" else "human"
        writer = Writer(texts.source_id_of(author.source_id), texts.name_of(author.name), "", kind)
        yield _Reaction(writer, value["emoji"], value["createdAt"])
