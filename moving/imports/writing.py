"""Writes a batch of staged posts in one transaction, each foreign post once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from kernel.cache.rendering import to_json
from kernel.cache.versions import EVERYTHING, invalidate
from kernel.database.sql import database_now, execute
from kernel.writes.transaction import retried
from messaging.cache_tags import COMMUNITIES, community_tag, message_tag, page_tag
from messaging.models import MessageStatus
from moving.imports.announcing import count_on_pages
from moving.imports.authors import accounts_of, erased_authors
from moving.imports.extras import columns_of
from moving.imports.known_posts import KnownPost, known_posts
from moving.imports.parting import part_authors
from moving.imports.progress import lock_source, require_writable
from moving.imports.staging import StagedPost
from moving.imports.texts import AHEAD, id_at, source_id_of, time_of
from moving.models import Move

# Beyond this many posts whose counts changed, all responses are invalidated instead of those of each post.
TAGS_MAX = 1_000
PUBLISHED, DELETED = MessageStatus.PUBLISHED, MessageStatus.DELETED
ADD_PAGES = """
INSERT INTO messaging_page (id, normalized_url, created_at)
SELECT id, url, clock_timestamp() FROM json_to_recordset(%s::json) AS page (id text, url text)
ORDER BY id ON CONFLICT (id) DO NOTHING
"""
ADD_SOURCES = """
INSERT INTO moving_importedpost (community_id, format, source_id, message_id, lacks_reactions, move_id)
SELECT %s, %s, source_id, id, lacks_reactions, %s
FROM json_to_recordset(%s::json) AS post (place int, source_id text, id uuid, lacks_reactions bool) ORDER BY place
"""
COLUMNS = """
    id uuid, page_id text, author_id uuid, author_kind text, parent_id uuid, status text, content text, tag_type text,
    payload jsonb, anchor_text text, context_anchor jsonb, attachments jsonb, language text, source_app text,
    reply_count int, imported_score int, imported bool, created_at timestamptz, updated_at timestamptz,
    edited_at timestamptz
"""
NAMES = ", ".join(column.split()[0] for column in COLUMNS.split(","))
# Parents first: a trigger reads the parent of each row, also in the same statement.
ADD_POSTS = f"""
INSERT INTO messaging_message (community_id, quote_count, reaction_counts, reaction_total, {NAMES})
SELECT %s, 0, '{{}}', 0, {NAMES} FROM json_to_recordset(%s::json) AS post (place int, {COLUMNS}) ORDER BY place
"""  # noqa: S608  built from constants
LOCK_PARENTS = "SELECT FROM messaging_message WHERE id = ANY(%s::uuid[]) ORDER BY id FOR NO KEY UPDATE"
COUNT_REPLIES = """
UPDATE messaging_message message SET reply_count = message.reply_count + counted.replies
FROM json_to_recordset(%s::json) AS counted (id uuid, replies int) WHERE message.id = counted.id
"""


@dataclass(slots=True)
class Written:
    """The numbers of a batch."""

    new: int = 0
    earlier: int = 0


@dataclass(slots=True)
class NewPost:
    """A post to write. `id_of_parent` None: a top-level one."""

    staged: StagedPost
    id: UUID
    at: datetime
    id_of_parent: UUID | None


@retried
@transaction.atomic
def write(posts: Sequence[StagedPost], times: Sequence[int], *, move: Move, site: str = "") -> Written:
    """Write those of the posts, parents first, that are not there yet. Raises ImportUndone, ImportBusy (409)."""
    lock_source(move)
    require_writable(move)
    source_ids = {post.source_id for post in posts} | {post.parent_id for post in posts}
    known = known_posts(source_ids, move=move, site=site)
    erased = erased_authors(posts, move=move, site=site)
    posts = [post.without_content() if post.author_id in erased else post for post in posts]
    part_authors([post for post in posts if post.source_id in known], move=move, site=site)
    new = _new_posts(posts, times, known)
    if new:
        _add(new, move, site, existing_pages={post.page_id for post in known.values()})
    return Written(new=len(new), earlier=len(posts) - len(new))


def _new_posts(posts: Sequence[StagedPost], times: Sequence[int], known: dict[str, KnownPost]) -> list[NewPost]:
    here: dict[str, KnownPost] = {}
    new = []
    for post, time in zip(posts, times, strict=True):
        if post.source_id in known:
            continue
        parent = here.get(post.parent_id) or known.get(post.parent_id)
        if parent is not None and not parent.is_on(post.page_id):
            parent = None
        staged = post if parent is None else post._replace(page_id=parent.page_id, url=parent.url)
        message_id = id_at(time, post.number)
        here[post.source_id] = KnownPost(message_id, staged.page_id, staged.url)
        new.append(NewPost(staged, message_id, time_of(time), parent and parent.id))
    return new


def _add(new: list[NewPost], move: Move, site: str, *, existing_pages: Collection[str]) -> None:
    """`existing_pages` had posts when this transaction looked: one that is missing was moved, and a retry finds out."""
    accounts = accounts_of((post.staged for post in new), move=move, site=site)
    pages = {post.staged.page_id: post.staged.url for post in new}
    new_pages = [{"id": page_id, "url": url} for page_id, url in pages.items() if page_id not in existing_pages]
    execute(ADD_PAGES, [_json(new_pages)])
    sources = [
        {
            "place": place,
            "source_id": source_id_of(post.staged.source_id, site=site),
            "id": post.id,
            "lacks_reactions": bool(post.staged.has_reactions),
        }
        for place, post in enumerate(new)
    ]
    execute(ADD_SOURCES, [move.community_id, move.format, move.pk, _json(sources)])
    replies = Counter(post.id_of_parent for post in new if post.id_of_parent and post.staged.state == PUBLISHED)
    # Those of other new posts are part of their rows. A deleted one becomes a tombstone when its count changes.
    counted = {post.id: replies.pop(post.id, 0) for post in new if post.staged.state != DELETED}
    latest = database_now() + AHEAD
    rows = [_row(post, place, accounts, counted, latest) for place, post in enumerate(new)]
    # First, as in every write: a trigger looks at the parents of new rows, and another locks the counts of their pages.
    execute(LOCK_PARENTS, [[post.id_of_parent for post in new if post.id_of_parent]])
    execute(ADD_POSTS, [move.community_id, _json(rows)])
    _count_replies(replies)
    count_on_pages(Counter(post.staged.page_id for post in new), move=move)
    tags = [*map(page_tag, pages), *map(message_tag, replies), community_tag(move.community_id), COMMUNITIES]
    invalidate_tags(tags)


def _row(
    post: NewPost, place: int, accounts: dict[str, UUID], counted: dict[UUID, int], latest: datetime
) -> dict[str, Any]:
    staged, columns = post.staged, columns_of(post.staged.extra)
    edited_at = time_of(staged.edited) if staged.edited and staged.state != DELETED else None
    if edited_at is not None and not post.at < edited_at <= latest:
        edited_at = None
    updated_at = columns["updated_at"]
    if updated_at is None or not post.at <= updated_at <= latest:
        updated_at = edited_at or post.at
    return columns | {
        "place": place,
        "id": post.id,
        "page_id": staged.page_id,
        "author_id": accounts[staged.author_id],
        "author_kind": staged.author_kind,
        "parent_id": post.id_of_parent,
        "status": staged.state,
        "content": staged.content,
        "reply_count": counted.get(post.id, 0),
        "imported_score": staged.score,
        "imported": True,
        "created_at": post.at,
        "updated_at": updated_at,
        "edited_at": edited_at,
    }


def _count_replies(replies: Counter[UUID]) -> None:
    if replies:
        execute(COUNT_REPLIES, [_json([{"id": each, "replies": count} for each, count in replies.items()])])


def invalidate_tags(tags: Collection[str]) -> None:
    invalidate(*(tags if len(tags) <= TAGS_MAX else [EVERYTHING]))


def _json(rows: list[dict[str, Any]]) -> str:
    return to_json(rows).decode()
