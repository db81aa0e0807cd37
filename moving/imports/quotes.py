"""Restores what posts of our own exports quote."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db import transaction

from kernel.cache.rendering import to_json
from kernel.cache.versions import invalidate
from kernel.database.sql import execute, fetch_all
from kernel.writes.retries import retried
from messaging.cache_tags import message_tag, page_tag
from moving.imports import texts
from moving.imports.locking import lock_source, require_writable
from moving.imports.progress import Step, Tell
from moving.models import Move

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
