"""Fills the benchmark database: a million posts on ten thousand pages, and the large pages and posts.

Posts are inserted in order of time, over all pages in turn, so that the posts of one page are scattered over the table
as in production.
"""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

import psycopg

from agents import tokens
from tests.benchmarks import data, progress
from tests.benchmarks.data import page_id

BATCH = 20_000
SOME_TEXT = (
    "The harbour light was first lit in 1871, says the council's ledger, while a postcard of 1869 shows it burning. "
    "Both may be true: the tower is older than its lamp, and painters liked to add what was missing. Compare "
    "the port's register with the parish books before you settle on a year."
)

PAGES = """
INSERT INTO messaging_page (id, normalized_url, created_at)
SELECT *, now() FROM unnest(%(ids)s::text[], %(urls)s::text[])
"""
ACCOUNTS = """
INSERT INTO messaging_account (id, kind, handle, name, password, is_active, is_staff, is_superuser, created_at)
SELECT md5(kind || n)::uuid, kind, kind || '_' || n, initcap(kind) || ' number ' || n, '!', true, false, false, now()
FROM generate_series(%(first)s, %(last)s) n, (SELECT %(kind)s AS kind) k
"""
CREDENTIALS = """
WITH agent AS (
    INSERT INTO agents_agent (account_id, operator_id, scopes, community_ids, freeze_reason, created_at)
    SELECT md5('agent' || n)::uuid, md5('human1')::uuid, '{post,reply,quote,react}', '{}', '', now()
    FROM generate_series(%(first)s, %(last)s) n
)
INSERT INTO agents_agenttoken
    (id, agent_id, digest, prefix, label, created_at, created_by_id, expires_at, last_used_at, revoke_reason)
SELECT md5('token' || n)::uuid, md5('agent' || n)::uuid, digest, 'cag_benchmar', '', now(), md5('human1')::uuid,
    now() + interval '300 days', now() + interval '30 days', ''
FROM unnest(%(digests)s::bytea[]) WITH ORDINALITY d (digest, place), LATERAL (SELECT %(first)s + place - 1 AS n) m
"""
COMMUNITY = """
INSERT INTO messaging_community (id, name, slug, blocked_words, agents_may_post, people_may_post, read_only,
    allowed_tag_types, pre_moderation, created_at, updated_at)
VALUES (%(id)s, 'Benchmark', 'benchmark', '{}', true, true, false, '{}', 'off', now(), now())
"""
EMBED = """
INSERT INTO embeds_embed (id, owner_id, community_id, name, description, domain_whitelist, domain_blacklist, page_rules,
    trigger_config, status, blocked_words, created_at, updated_at)
VALUES (%(id)s, md5('human1')::uuid, %(id)s, 'Benchmark', '', '{}', '{}', '{"type": "all", "patterns": []}',
    '{"type": "corner-tab", "position": "bottom-right", "message": "", "color": "#2f5bd0", "size": "medium"}',
    'active', '{}', now(), now())
"""
# Every tenth author is an agent; the batch spreads over the 180 days before now.
POSTS = """
INSERT INTO messaging_message (id, page_id, author_id, author_kind, parent_id, status, content, attachments,
    reply_count, quote_count, reaction_counts, reaction_total, created_at, updated_at)
SELECT uuidv7(age), pages.id, md5(kind || 1 + n %% 20000)::uuid, kind, %(parent)s::uuid,
    'published', 'Post ' || n || '. ' || %(text)s, '[]', 0, 0, '{}', 0, now() + age, now() + age
FROM generate_series(%(first)s, %(last)s) n
JOIN unnest(%(pages)s::text[]) WITH ORDINALITY pages (id, place) ON place = 1 + n %% %(page_count)s,
LATERAL (SELECT CASE WHEN n %% 10 = 0 THEN 'agent' ELSE 'human' END AS kind,
    make_interval(secs => (n - %(total)s) * (15552000.0 / %(total)s) - 60) AS age) t
ORDER BY n
"""
REACTIONS = """
INSERT INTO reactions_reaction (id, message_id, account_id, emoji, created_at)
SELECT uuidv7(), %(post)s, md5('human' || n)::uuid, '👍', now() - n * interval '1 second'
FROM generate_series(1, %(count)s) n
"""
REACTED = """
UPDATE messaging_message SET reaction_counts = jsonb_build_object('👍', %(count)s::int), reaction_total = %(count)s
WHERE id = %(post)s
"""
REPLIED = "UPDATE messaging_message SET reply_count = %(count)s WHERE id = %(post)s"
# Pages are inserted in order, so the last one shows the progress of a load.
LOADED = "SELECT coalesce(max(substring(normalized_url FROM '/([0-9]+)$')::int) + 1, 0) FROM messaging_page"


def load(connection: psycopg.Connection, posts: int) -> None:
    """Add posts on numbered pages until existing are `posts`."""
    row = connection.execute(LOADED).fetchone()
    assert row
    existing = int(row[0]) * data.POSTS_A_PAGE
    if existing == 0:
        _load_accounts(connection)
    if existing < posts:
        _load_posts(connection, existing, posts)
        _settle(connection)


def load_large(connection: psycopg.Connection) -> None:
    """A page of 50,000 posts, a post with 10,000 replies, one with 100,000 reactions."""
    if connection.execute("SELECT FROM messaging_page WHERE id = %s", [page_id(data.BIG)]).rowcount:
        return
    for page, posts in ((data.BIG, data.BIG_PAGE_POSTS), (data.THREAD, 1), (data.LOVED, 1)):
        connection.execute(PAGES, {"ids": [page_id(page)], "urls": [data.url(page)]})
        _write(connection, [page_id(page)], 1, posts)
    replied, loved = data.only_post(connection, data.THREAD), data.only_post(connection, data.LOVED)
    _write(connection, [page_id(data.THREAD)], 1, data.BIG_THREAD_REPLIES, parent=replied)
    connection.execute(REPLIED, {"post": replied, "count": data.BIG_THREAD_REPLIES})
    for statement in (REACTIONS, REACTED):
        connection.execute(statement, {"post": loved, "count": data.PEOPLE})
    _settle(connection)


def _load_accounts(connection: psycopg.Connection) -> None:
    for first, last in _batches("people", 1, data.PEOPLE):
        connection.execute(ACCOUNTS, {"first": first, "last": last, "kind": "human"})
    for first, last in _batches("agents", 1, data.AGENTS):
        digests = [tokens.digest(data.token(agent)) for agent in range(first, last + 1)]
        connection.execute(ACCOUNTS, {"first": first, "last": last, "kind": "agent"})
        connection.execute(CREDENTIALS, {"first": first, "last": last, "digests": digests})
    for statement in (COMMUNITY, EMBED):
        connection.execute(statement, {"id": data.EMBED_ID})


def _load_posts(connection: psycopg.Connection, existing: int, posts: int) -> None:
    numbers = range(existing // data.POSTS_A_PAGE, posts // data.POSTS_A_PAGE)
    pages = [page_id(number) for number in numbers]
    connection.execute(PAGES, {"ids": pages, "urls": [data.url(number) for number in numbers]})
    for first, last in _batches("posts", existing + 1, posts):
        _write(connection, pages, first, last, total=posts)


def _write(
    connection: psycopg.Connection,
    pages: list[str],
    first: int,
    last: int,
    total: int | None = None,
    parent: UUID | None = None,
) -> None:
    values = {"pages": pages, "page_count": len(pages), "first": first, "last": last, "total": total or last}
    connection.execute(POSTS, values | {"parent": parent, "text": SOME_TEXT})


def _batches(what: str, first: int, last: int) -> Iterator[tuple[int, int]]:
    for start in range(first, last + 1, BATCH):
        end = min(start + BATCH - 1, last)
        yield start, end
        progress.show(what, end - first + 1, last - first + 1)


def _settle(connection: psycopg.Connection) -> None:
    """Vacuum and write a checkpoint, so that no run includes the cost of the load."""
    connection.execute("VACUUM ANALYZE")
    connection.execute("CHECKPOINT")
