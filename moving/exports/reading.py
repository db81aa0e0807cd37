"""Reads the posts of an export with their reactions, in order of time, in constant memory.

Which posts an export contains: SQL conditions about a message `m`, for one community, page or embed, or for all.

A view of the database that does not change while an export reads it, on a connection of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connections
from psycopg import IsolationLevel

from embeds.models import Embed
from kernel.api.ids import is_id
from kernel.database.bounds import MARGIN_SECONDS
from kernel.database.sql import Row
from messaging.models import Community, MovedPage, Page
from messaging.pages.page_ids import InvalidUrl, is_page_id, normalize
from messaging.posts.message_fields import JOINS, account_from_row
from messaging.posts.queries import COLUMNS, message_from_row
from messaging.posts.shown import is_listed, is_no_draft, is_visible

# The posts of the embed's community on the pages where its widget was used to write: whole threads, also with replies
# that were written by other ways.
OF_EMBED = """
(m.community_id = %(community_id)s OR m.embed_id = %(embed_id)s)
AND m.page_id IN (SELECT DISTINCT page_id FROM messaging_message WHERE embed_id = %(embed_id)s)
"""
# A post under a pending one is not public, but goes along with it; not so under a hidden one.
UNDER_HIDDEN = """
EXISTS (
    WITH RECURSIVE above AS (
        SELECT p.id, p.parent_id, p.status FROM messaging_message p WHERE p.id = m.parent_id
        UNION
        SELECT p.id, p.parent_id, p.status FROM messaging_message p JOIN above ON p.id = above.parent_id
    )
    SELECT FROM above WHERE status = 'hidden'
)
"""
PUBLIC = is_visible("m")
WITH_PENDING = f"""
({PUBLIC} OR (m.status = 'pending' AND {is_no_draft("m")} OR {is_listed("m")}) AND NOT {UNDER_HIDDEN})
"""


class UnknownScope(Exception):
    """There is no such community, page or embed. The message says where to find the ids."""


@dataclass(frozen=True, slots=True)
class Scope:
    """`names`: what the header of an export says of it. `condition` has the parameters `values`."""

    names: Mapping[str, str]
    condition: str
    values: Mapping[str, Any] = field(default_factory=dict)
    with_pending: bool = False

    @property
    def where(self) -> str:
        return f"{self.condition} AND {WITH_PENDING if self.with_pending else PUBLIC}"

    @property
    def filename(self) -> str:
        """Of letters, digits and hyphens."""
        return "-".join(self.names.values())


EVERYTHING = Scope({"all": "posts"}, "true")


def of_community(community: Community, *, with_pending: bool = False) -> Scope:
    names = {"community": community.slug}
    return Scope(names, "m.community_id = %(community_id)s", {"community_id": community.pk}, with_pending)


def of_embed(embed: Embed, *, with_pending: bool = False) -> Scope:
    values = {"embed_id": embed.pk, "community_id": embed.community_id}
    return Scope({"embed": str(embed.pk)}, OF_EMBED, values, with_pending)


def community_called(text: str) -> Scope:
    """By id or slug. Raises UnknownScope, as the functions below."""
    named = {"pk": UUID(text)} if is_id(text) else {"slug": text}
    community = None if "\0" in text else Community.objects.filter(**named).first()
    if community is None:
        raise UnknownScope(f"No community has the id or slug {text!r}: GET /v1/communities lists them.")
    return of_community(community)


def page_called(text: str) -> Scope:
    """By page id or URL. An id under earlier rules names the page that has its posts."""
    page_id = text if is_page_id(text) else _page_id_of(text)
    page_id = MovedPage.objects.filter(old_id=page_id).values_list("page_id", flat=True).first() or page_id
    if not Page.objects.filter(pk=page_id).exists():
        raise UnknownScope(f"No page has the id or URL {text!r}: POST /v1/presence/normalize-url answers the id.")
    return Scope({"page": page_id}, "m.page_id = %(page_id)s", {"page_id": page_id})


def embed_called(text: str) -> Scope:
    """By id; also a deleted one, whose posts stay."""
    embed = Embed.objects.filter(pk=text).first() if is_id(text) else None
    if embed is None:
        raise UnknownScope(f"No embed has the id {text!r}: the page of the site under /account/sites/ shows it.")
    return of_embed(embed)


SCOPES: dict[str, Callable[[str], Scope]] = {
    "community": community_called,
    "page": page_called,
    "embed": embed_called,
}


def _page_id_of(url: str) -> str:
    try:
        return normalize(url).page_id
    except InvalidUrl as failure:
        hint = (
            f"{url!r} is neither the id nor a URL of a page: {failure}. POST /v1/presence/normalize-url answers the id."
        )
        raise UnknownScope(hint) from None


# A generic plan would take a scope for a small one.
SETTINGS = """
SELECT set_config('statement_timeout', %s, true), set_config('idle_in_transaction_session_timeout', %s, true),
    set_config('plan_cache_mode', 'force_custom_plan', true)
"""
# Posts have at most 20,000 characters and 64 KB of JSON, most of them some hundred bytes.
ROWS_AT_ONCE = 200


class Snapshot:
    """A read-only transaction. It has no transaction id, so readers of the change log do not wait for it."""

    def __init__(self, database: Any) -> None:
        self._database = database

    def all(self, statement: str, values: Mapping[str, Any] | Sequence[Any]) -> list[Row]:
        with self._database.cursor() as cursor:
            cursor.execute(statement, values)
            return list(cursor.fetchall())

    def in_batches(self, statement: str, values: Mapping[str, Any]) -> Iterator[list[Row]]:
        """The rows of a server-side cursor, ROWS_AT_ONCE at once."""
        with self._database.chunked_cursor() as cursor:
            cursor.execute(statement, values)
            while rows := cursor.fetchmany(ROWS_AT_ONCE):
                yield rows


@contextmanager
def open_snapshot(*, statement_seconds: int, idle_seconds: int) -> Iterator[Snapshot]:
    """Not the connection of the thread: a response is sent while middlewares use that one.

    `statement_seconds`: the first rows come after all were sorted; 0 is no limit. `idle_seconds`: how long a slow
    reader may leave the transaction idle. Leaving the block ends the transaction.
    """
    # A server may close the response in another thread than the one that opened it.
    database: Any = connections[DEFAULT_DB_ALIAS].copy()
    database.inc_thread_sharing()
    try:
        database.connect()
        database.connection.isolation_level = IsolationLevel.REPEATABLE_READ
        database.connection.read_only = True
        database.set_autocommit(False)
        with database.cursor() as cursor:
            cursor.execute(SETTINGS, [f"{statement_seconds}s", f"{idle_seconds}s"])
        # The copy waits as long as a request does.
        database.connection.answer_seconds = statement_seconds + MARGIN_SECONDS if statement_seconds else None
        yield Snapshot(database)
    finally:
        database.close()


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
