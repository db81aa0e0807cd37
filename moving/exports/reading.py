"""Reads the posts of an export with their reactions, in order of time, in constant memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from kernel.database.sql import Row
from messaging.posts.message_fields import JOINS, account_from_row
from messaging.posts.queries import COLUMNS, message_from_row
from moving.exports.scopes import Scope
from moving.exports.snapshot import Snapshot

POSTS = f"SELECT {COLUMNS} {JOINS} WHERE {{where}} ORDER BY m.created_at, m.id"
PAGES = """
SELECT page.id, page.normalized_url, first.at FROM messaging_page page JOIN (
    SELECT m.page_id, min(m.created_at) AS at FROM messaging_message m WHERE {where} GROUP BY m.page_id
) first ON first.page_id = page.id ORDER BY first.at, page.id
"""
# The condition on the emoji is that of the index `reactions_of_post`.
REACTIONS = """
SELECT r.message_id, r.created_at, r.id, r.emoji, a.id, a.name, a.handle, a.kind
FROM reactions_reaction r JOIN messaging_account a ON a.id = r.account_id
WHERE r.message_id = ANY(%(ids)s) AND r.emoji <> ''{after} ORDER BY r.message_id, r.created_at, r.id{limit}
"""
OF_POSTS = REACTIONS.format(after="", limit="")
AFTER = " AND (r.created_at, r.id) > (%(at)s, %(id)s)"
REACTIONS_AT_ONCE = 1_000
# Posts with at most so many are read together.
FEW = 100
OF_ONE_POST = REACTIONS.format(after="", limit=f" LIMIT {REACTIONS_AT_ONCE}")
FURTHER = REACTIONS.format(after=AFTER, limit=f" LIMIT {REACTIONS_AT_ONCE}")

Reaction = dict[str, Any]


@dataclass(slots=True)
class ExportedPost:
    """`message` is the record of the API. `reactions`: parts of at most REACTIONS_AT_ONCE, oldest first."""

    message: dict[str, Any]
    reactions: Iterator[list[Reaction]]


@dataclass(frozen=True, slots=True)
class ExportedPage:
    id: str
    url: str
    first_post_at: datetime


@dataclass(slots=True)
class Reader:
    """The posts and pages of a scope. `on_progress` is called with the number of posts that were read so far."""

    snapshot: Snapshot
    scope: Scope
    on_progress: Callable[[int], None] = field(default=lambda posts: None)

    def pages(self) -> Iterator[ExportedPage]:
        for rows in self.snapshot.in_batches(PAGES.format(where=self.scope.where), self.scope.values):
            yield from (ExportedPage(*row) for row in rows)

    def posts(self) -> Iterator[ExportedPost]:
        read = 0
        for rows in self.snapshot.in_batches(POSTS.format(where=self.scope.where), self.scope.values):
            messages = [message_from_row(row) for row in rows]
            yield from self._with_reactions(messages)
            read += len(rows)
            self.on_progress(read)

    def _with_reactions(self, messages: list[dict[str, Any]]) -> Iterator[ExportedPost]:
        of_post: dict[UUID, list[Reaction]] = {}
        few = [message["id"] for message in messages if 0 < message["reactionTotal"] <= FEW]
        for row in self.snapshot.all(OF_POSTS, {"ids": few}) if few else ():
            of_post.setdefault(row[0], []).append(_reaction(row))
        for message in messages:
            known = iter([of_post.get(message["id"], [])])
            yield ExportedPost(message, known if message["reactionTotal"] <= FEW else self._parts(message["id"]))

    def _parts(self, message_id: UUID) -> Iterator[list[Reaction]]:
        rows = self.snapshot.all(OF_ONE_POST, {"ids": [message_id]})
        while rows:
            yield [_reaction(row) for row in rows]
            last = {"ids": [message_id], "at": rows[-1][1], "id": rows[-1][2]}
            rows = self.snapshot.all(FURTHER, last) if len(rows) == REACTIONS_AT_ONCE else []


def _reaction(row: Row) -> Reaction:
    return {"emoji": row[3], "createdAt": row[1], "author": account_from_row(row[4:])}
