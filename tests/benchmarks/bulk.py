"""Fills a database with ten million posts by `INSERT … SELECT`, in minutes, and the same rows each time.

Indexes are built at the end, and no trigger runs: what triggers and roll-ups derive from posts is computed from all
posts at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from tests.benchmarks import data, load, progress

BATCH = 500_000
POSTS_A_PAGE = 100
# A prime, so that each page has other texts.
TEXTS = 50_021
COMMUNITIES, EMBEDS = 40, 200
DAYS = 180
# Indexed tables whose rows are inserted in bulk.
TABLES = ("messaging_message", "messaging_searchentry", "reactions_reaction", "desk_dailycount")
INDEXES = """
SELECT c.relname, pg_get_indexdef(i.indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE i.indrelid = %s::regclass AND NOT i.indisunique
"""
COMMUNITY_ROWS = """
INSERT INTO messaging_community (id, name, slug, blocked_words, agents_may_post, people_may_post, read_only,
    allowed_tag_types, pre_moderation, created_at, updated_at)
SELECT md5('community' || n)::uuid, 'Community ' || n, 'community-' || n, '{}', true, true, false, '{}', 'off', now(),
    now()
FROM generate_series(1, %(count)s) n
"""
EMBED_ROWS = """
INSERT INTO embeds_embed (id, owner_id, community_id, name, description, domain_whitelist, domain_blacklist, page_rules,
    trigger_config, status, blocked_words, created_at, updated_at)
SELECT md5('embed' || n)::uuid, md5('human' || n)::uuid, md5('community' || 1 + n %% 40)::uuid, 'Embed ' || n, '', '{}',
    '{}', '{"type": "all", "patterns": []}',
    '{"type": "corner-tab", "position": "bottom-right", "message": "", "color": "#2f5bd0", "size": "medium"}',
    'active', '{}', now(), now()
FROM generate_series(1, %(count)s) n
"""
# A UUIDv7 that is computed from the number of the post and its time.
ID = """
CREATE OR REPLACE FUNCTION pg_temp.post_id(n bigint, total bigint, until timestamptz) RETURNS uuid LANGUAGE sql
IMMUTABLE AS $$
    SELECT (lpad(to_hex((extract(epoch FROM until) * 1000)::bigint - (total - n) * 15552000000 / total), 12, '0')
        || '7' || lpad(to_hex(n % 4096), 3, '0') || '8' || lpad(to_hex(n), 15, '0'))::uuid
$$
"""
# Texts of a vocabulary of 5,000 words by a steep law, so that a search has common words and rare ones.
TEXT_ROWS = """
CREATE TEMPORARY TABLE texts AS
SELECT number, content, to_tsvector('simple', content) AS words FROM (
    SELECT number, 'Text ' || number || ' ' || string_agg('word' ||
        (5000 * power((hashint8extended(number * 16 + k, 7) & 65535) / 65536.0, 4))::int, ' ' ORDER BY k) AS content
    FROM generate_series(0, %(count)s - 1) number, generate_series(1, 12) k GROUP BY number
) texts
"""
# Of ten posts of a page, seven are top-level posts and three reply to the first three of them.
POSTS = """
INSERT INTO messaging_message (id, page_id, author_id, author_kind, community_id, embed_id, parent_id, status, content,
    attachments, reply_count, quote_count, reaction_counts, reaction_total, created_at, updated_at)
SELECT pg_temp.post_id(n, %(total)s, %(until)s), pages.id, md5(kind || 1 + n %% 20000)::uuid, kind,
    md5('community' || 1 + n %% 40)::uuid, md5('embed' || 1 + n %% 200)::uuid,
    CASE WHEN place >= 7 THEN pg_temp.post_id(n - 7 * %(page_count)s, %(total)s, %(until)s) END,
    CASE WHEN n %% 5000 = 1 THEN 'pending' WHEN n %% 1000 = 2 THEN 'hidden' ELSE 'published' END,
    texts.content, '[]', (place < 3)::int, 0, '{}', 0, at, at
FROM generate_series(%(first)s::bigint, %(last)s::bigint) n
JOIN pages ON pages.number = n %% %(page_count)s
JOIN texts ON texts.number = n %% %(texts)s,
LATERAL (SELECT (n / %(page_count)s) %% 10 AS place, CASE WHEN n %% 10 = 0 THEN 'agent' ELSE 'human' END AS kind,
    %(until)s::timestamptz - make_interval(secs => (%(total)s - n) * (15552000.0 / %(total)s)) AS at) derived
"""
WORDS = """
INSERT INTO messaging_searchentry (message_id, page_id, community_id, created_at, words)
SELECT id, page_id, community_id, created_at, words FROM messaging_message JOIN texts USING (content)
WHERE status = 'published' AND id > %(after)s AND id <= %(until)s
"""
BOUNDS = """
SELECT pg_temp.post_id(%(first)s - 1, %(total)s, %(until)s), pg_temp.post_id(%(last)s, %(total)s, %(until)s)
"""
DERIVED = {
    "counts of pages": """
INSERT INTO messaging_pagecount (page_id, slot, posts, replies)
SELECT page_id, 0, count(*) - count(parent_id), count(parent_id) FROM messaging_message WHERE status = 'published'
GROUP BY page_id
""",
    "counts of communities": """
INSERT INTO messaging_communitycount (community_id, slot, posts, replies)
SELECT community_id, 0, count(*) - count(parent_id), count(parent_id) FROM messaging_message
WHERE status = 'published' GROUP BY community_id
""",
    "counts of communities on pages": """
INSERT INTO messaging_pagecommunitycount (page_id, community_id, slot, posts, replies)
SELECT page_id, community_id, 0, count(*) - count(parent_id), count(parent_id) FROM messaging_message
WHERE status = 'published' AND community_id IS NOT NULL GROUP BY page_id, community_id
""",
    "reactions": """
INSERT INTO reactions_reaction (id, message_id, account_id, emoji, created_at)
SELECT uuidv7(), id, md5('human' || 1 + row_number() OVER () %% 1000)::uuid, '👍', created_at
FROM (SELECT id, created_at FROM messaging_message ORDER BY id DESC LIMIT 200000) newest
""",
    "reports": """
INSERT INTO messaging_report (reason, note, created_at, message_id, reporter_id)
SELECT 'spam', '', created_at, id, md5('human1')::uuid
FROM (SELECT id, created_at FROM messaging_message WHERE status = 'published' ORDER BY id DESC LIMIT 2000) newest
""",
    "counts of accounts": """
INSERT INTO desk_dailycount (subject_id, kind, day, count)
SELECT author_id, CASE author_kind WHEN 'agent' THEN 'agent' ELSE 'person' END, (created_at AT TIME ZONE 'UTC')::date,
    count(*)
FROM messaging_message WHERE created_at > now() - interval '60 days' GROUP BY 1, 2, 3
""",
    "daily counts of communities": """
INSERT INTO desk_dailycount (subject_id, kind, day, count)
SELECT community_id, CASE author_kind WHEN 'agent' THEN 'community_agents' ELSE 'community_people' END,
    (created_at AT TIME ZONE 'UTC')::date, count(*)
FROM messaging_message WHERE created_at > now() - interval '60 days' GROUP BY 1, 2, 3
""",
    "daily counts of embeds": """
INSERT INTO desk_dailycount (subject_id, kind, day, count)
SELECT embed_id, 'embed', (created_at AT TIME ZONE 'UTC')::date, count(*)
FROM messaging_message WHERE created_at > now() - interval '60 days' GROUP BY 1, 2, 3
""",
    "totals": """
INSERT INTO desk_dailytotal (kind, day, name, count)
SELECT CASE kind WHEN 'agent' THEN 'agents' ELSE 'people' END, day, '', sum(count) FROM desk_dailycount
WHERE kind IN ('person', 'agent') GROUP BY 1, 2
""",
    "views of embeds": """
INSERT INTO embeds_dailycount (embed_id, day, path, event, count)
SELECT md5('embed' || n)::uuid, current_date - day, '/' || path, event, 1 + (n + day + path) %% 50
FROM generate_series(1, 200) n, generate_series(1, 60) day, generate_series(1, 5) path,
    unnest(ARRAY['trigger_view', 'trigger_click']) event
""",
}


def fill(connection: psycopg.Connection, posts: int) -> None:
    """Add `posts` posts to an empty, migrated database. The connection belongs to a superuser and commits by itself."""
    page_count = len(_prepare(connection, posts))
    connection.execute(COMMUNITY_ROWS, {"count": COMMUNITIES})
    connection.execute(EMBED_ROWS, {"count": EMBEDS})
    with _without_indexes(connection):
        _add_posts(connection, posts, page_count)
        for what, statement in DERIVED.items():
            connection.execute(statement, {})
            progress.show(what, 1, 1)
    connection.execute("RESET session_replication_role")
    connection.execute("VACUUM ANALYZE")
    connection.execute("CHECKPOINT")


def fill_posts(connection: psycopg.Connection, posts: int) -> list[str]:
    """`fill` without anything that is derived from posts; returns the ids of their pages."""
    pages = _prepare(connection, posts)
    with _without_indexes(connection):
        _add_posts(connection, posts, len(pages), searchable=False)
    connection.execute("RESET session_replication_role")
    connection.execute("VACUUM ANALYZE")
    connection.execute("CHECKPOINT")
    return pages


def _prepare(connection: psycopg.Connection, posts: int) -> list[str]:
    """Add what posts refer to; returns the ids of their pages."""
    load.load(connection, 0)
    connection.execute("SET session_replication_role = replica")
    connection.execute(ID)
    connection.execute(TEXT_ROWS, {"count": TEXTS})
    connection.execute("ANALYZE texts")
    return _add_pages(connection, posts)


def _add_pages(connection: psycopg.Connection, posts: int) -> list[str]:
    numbers = range(max(1, posts // POSTS_A_PAGE))
    pages = [data.page_id(number) for number in numbers]
    connection.execute(load.PAGES, {"ids": pages, "urls": [data.url(number) for number in numbers]})
    connection.execute("CREATE TEMPORARY TABLE pages (number bigint PRIMARY KEY, id text)")
    connection.execute(
        "INSERT INTO pages SELECT place - 1, id FROM unnest(%s::text[]) WITH ORDINALITY p (id, place)", [pages]
    )
    connection.execute("ANALYZE pages")
    return pages


def _add_posts(connection: psycopg.Connection, posts: int, page_count: int, *, searchable: bool = True) -> None:
    row = connection.execute("SELECT date_trunc('minute', now())").fetchone()
    assert row
    values = {"total": posts, "page_count": page_count, "texts": TEXTS, "until": row[0]}
    for first in range(0, posts, BATCH):
        last = min(first + BATCH, posts) - 1
        connection.execute(POSTS, values | {"first": first, "last": last})
        if searchable:
            bounds = connection.execute(BOUNDS, values | {"first": first, "last": last}).fetchone()
            assert bounds
            connection.execute(WORDS, {"after": bounds[0], "until": bounds[1]})
        progress.show("posts", last + 1, posts)


@contextmanager
def _without_indexes(connection: psycopg.Connection) -> Iterator[None]:
    """Drop the indexes of TABLES that enforce nothing, and build them at the end."""
    indexes = [row for table in TABLES for row in connection.execute(INDEXES, [table]).fetchall()]
    for name, _ in indexes:
        connection.execute(psycopg.sql.SQL("DROP INDEX {}").format(psycopg.sql.Identifier(name)))
    yield
    connection.execute("SET maintenance_work_mem = '1GB'")
    for name, definition in indexes:
        # Of a partitioned table, the definition is that of an index without those of the partitions.
        connection.execute(definition.replace(" ON ONLY ", " ON ", 1))
        progress.show(f"index {name}", 1, 1)
    connection.execute("RESET maintenance_work_mem")
