"""Restores what posts of our own exports quote.

Leaves out the quotes of our own exports whose quoted post is neither in the file nor imported before.

A scope of an export may have a post that quotes one outside of it. A post that has nothing but such a quote becomes a
deleted one, whose answers stay where they are.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import islice
from typing import Any
from uuid import UUID

from django.db import transaction

from kernel.cache.rendering import to_json
from kernel.cache.versions import invalidate
from kernel.database.sql import execute, fetch_all
from kernel.writes.transaction import retried
from messaging.cache_tags import message_tag, page_tag
from moving.imports import texts
from moving.imports.planning import absence
from moving.imports.progress import Report, Step, Tell, lock_source, require_writable
from moving.imports.staging import Staging
from moving.models import Move

LOOKED_UP = 1_000
# The deleted posts that nobody answers are not written.
ABSENT = """
SELECT DISTINCT quote_id FROM quote WHERE quote_id NOT IN (
    SELECT source_id FROM post WHERE state <> 'deleted' OR source_id IN (SELECT parent_id FROM post)
)
"""
# Also those that have nothing but a quote of one that is empty.
ADD_EMPTY = """
WITH RECURSIVE empty (source_id, number) AS (
    SELECT post.source_id, post.number FROM quote JOIN post USING (number) JOIN missing ON missing.source_id = quote_id
    WHERE has_nothing_else
    UNION
    SELECT post.source_id, post.number FROM empty JOIN quote ON quote.quote_id = empty.source_id
    JOIN post ON post.number = quote.number WHERE has_nothing_else
)
INSERT OR IGNORE INTO missing SELECT source_id, number FROM empty
"""
LEFT_OUT = """
SELECT post.source_id, post.address, has_nothing_else,
    quote_id IN (SELECT source_id FROM post) OR quote_id IN (SELECT source_id FROM left_out)
FROM quote JOIN post USING (number)
WHERE quote_id IN (SELECT source_id FROM missing) ORDER BY number
"""
REMOVE_QUOTES = """
UPDATE post SET extra = json_remove(extra, '$.quoteId')
WHERE number IN (SELECT number FROM quote WHERE quote_id IN (SELECT source_id FROM missing))
"""
REMOVE_EMPTY = """
UPDATE post SET state = 'deleted', extra = NULL, last_reaction = NULL WHERE number IN (SELECT number FROM missing)
"""


def leave_out_missing_quotes(
    staging: Staging,
    *,
    known: Callable[[Collection[str]], Collection[str]],
    report: Report,
    tell: Callable[[], None],
) -> None:
    """`known` returns the ids of those of the posts that earlier imports have written."""
    database = staging.database
    database.execute("CREATE TABLE missing (source_id TEXT PRIMARY KEY, number INTEGER)")
    database.execute("CREATE INDEX quotes_of_post ON quote (quote_id)")
    absent = (quote_id for (quote_id,) in database.execute(ABSENT))
    while some := list(islice(absent, LOOKED_UP)):
        is_known = known(some)
        database.executemany("INSERT INTO missing VALUES (?, NULL)", [(each,) for each in some if each not in is_known])
        tell()
    database.execute(ADD_EMPTY)
    for number, (source_id, address, has_nothing_else, is_left_out) in enumerate(database.execute(LEFT_OUT)):
        why = f"the quoted post is {absence(staging, is_left_out=is_left_out)}"
        rest = " It has nothing else, and is taken for a deleted post." if has_nothing_else else ""
        report.changed(source_id, address, f"Left out: quoteId ({why}).{rest}", kind="fields")
        if number % LOOKED_UP == 0:
            tell()
    database.execute(REMOVE_QUOTES)
    database.execute(REMOVE_EMPTY)


BATCH = 500
QUOTING = """
SELECT source_id, json_extract(extra, '$.quoteId'), number FROM post
WHERE extra IS NOT NULL AND json_extract(extra, '$.quoteId') IS NOT NULL ORDER BY number
"""
# Both posts of each quote that has not been restored yet.
QUOTES = """
SELECT message.id, message.page_id, quoted.id, quoted.page_id, message.status
FROM json_to_recordset(%s::json) AS sent (source_id text, quote_id text)
JOIN moving_importedpost imported
    ON imported.community_id = %s AND imported.format = %s AND imported.source_id = sent.source_id
JOIN moving_importedpost of_quoted
    ON of_quoted.community_id = imported.community_id AND of_quoted.format = imported.format
    AND of_quoted.source_id = sent.quote_id
JOIN messaging_message message ON message.id = imported.message_id AND message.quote_id IS NULL
    AND message.status <> 'deleted'
JOIN messaging_message quoted ON quoted.id = of_quoted.message_id AND quoted.id <> message.id
"""
LOCK = "SELECT FROM messaging_message WHERE id = ANY(%s::uuid[]) ORDER BY id FOR NO KEY UPDATE"
SET_QUOTES = """
UPDATE messaging_message message SET quote_id = quote.quoted_id
FROM json_to_recordset(%s::json) AS quote (id uuid, quoted_id uuid) WHERE message.id = quote.id
"""
COUNT_QUOTES = """
UPDATE messaging_message message SET quote_count = message.quote_count + counted.number
FROM (
    SELECT quoted_id, count(*) AS number FROM json_to_recordset(%s::json) AS quote (quoted_id uuid, counts bool)
    WHERE counts GROUP BY quoted_id
) counted WHERE message.id = counted.quoted_id
"""


def restore_quotes(staged: sqlite3.Connection, *, move: Move, total: int, tell: Tell) -> None:
    """After all posts are written, because a quoted one may come later. A second run finds nothing to do.

    `total`: how many posts are staged.
    """
    cursor = staged.execute(QUOTING)
    while quotes := cursor.fetchmany(BATCH):
        _restore_quotes(quotes, move=move)
        *_quote, done = quotes[-1]
        tell(Step("ending", done, total))


@retried
@transaction.atomic
def _restore_quotes(quotes: Sequence[tuple[str, Any, int]], *, move: Move) -> None:
    lock_source(move)
    require_writable(move)
    sent = [
        {"source_id": source_id, "quote_id": texts.source_id_of(quote_id)}
        for source_id, quote_id, _number in quotes
        if isinstance(quote_id, str)
    ]
    values = [to_json(sent).decode(), move.community_id, move.format]
    execute(LOCK, [_ids(fetch_all(QUOTES, values))])
    rows = fetch_all(QUOTES, values)
    if rows:
        execute(SET_QUOTES, [to_json([{"id": row[0], "quoted_id": row[2]} for row in rows]).decode()])
        counted = [{"quoted_id": row[2], "counts": row[4] == "published"} for row in rows]
        execute(COUNT_QUOTES, [to_json(counted).decode()])
        pages = {page_tag(page_id) for row in rows for page_id in (row[1], row[3])}
        invalidate(*pages, *map(message_tag, _ids(rows)))


def _ids(rows: Iterable[Sequence[Any]]) -> list[UUID]:
    return [post_id for row in rows for post_id in (row[0], row[2])]
