"""Leaves out the quotes of our own exports whose quoted post is neither in the file nor imported before.

A scope of an export may have a post that quotes one outside of it. A post that has nothing but such a quote becomes a
deleted one, whose answers stay where they are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import islice

from moving.imports.planning import absence
from moving.imports.report import Report
from moving.imports.staging import Staging

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
