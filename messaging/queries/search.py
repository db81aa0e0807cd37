"""Full text search, in two statements: how common the words are, then the posts that have them.

At most MATCHES_MAX matches, the newest, are ranked. A word that many posts have is found by reading the newest posts
until there are so many matches: the GIN index would return all of them, in no order. A rare word is found by the index.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from config.api.pagination import Position
from config.database.sql import fetch_all, fetch_one

MATCHES_MAX = 1_000
# The newest posts that are read to learn how common the words are; with COMMON matches among them they are common.
SAMPLE, COMMON = 1_000, 10
# The newest posts that are read for matches of common words.
READ_MAX = 200_000

# As the words of a post (`messaging_search_words`), except that `"` and a `-` before a word are operators.
QUERY = r"""
    websearch_to_tsquery('simple', regexp_replace(regexp_replace(
        messaging_plain_text(%(text)s),
        '[\u0001-\u0021\u0023-\u002c\u002e\u002f\u003a-\u0040\u005b-\u0060\u007b-\u007f]+', ' ', 'g'),
        '(?<=[^[:space:]])-+|-+(?=[[:space:]]|$)', ' ', 'g'))
"""
SCOPES = {"page_id": "entry.page_id = %(page_id)s", "community_id": "entry.community_id = %(community_id)s"}
# Always true; it selects the index of all entries (see the model).
EVERYWHERE = "entry.page_id <> ''"
NEWEST_FIRST = "ORDER BY entry.created_at DESC, entry.message_id DESC"
NEWEST = "SELECT entry.* FROM messaging_searchentry entry WHERE {{scope}} {order} LIMIT {limit}"
SAMPLED = f"""
SELECT query.parsed::text, numnode(query.parsed), querytree(query.parsed), (
    SELECT count(*) FROM ({NEWEST.format(order=NEWEST_FIRST, limit=SAMPLE)}) newest WHERE newest.words @@ query.parsed
) FROM (SELECT {QUERY} AS parsed OFFSET 0) query
"""  # noqa: S608  built from constants
OF_COMMON_WORDS = f"""
    SELECT entry.* FROM ({NEWEST.format(order=NEWEST_FIRST, limit=READ_MAX)}) entry
    WHERE entry.words @@ %(query)s::tsquery {NEWEST_FIRST} LIMIT {MATCHES_MAX}
"""  # noqa: S608  as above
OF_RARE_WORDS = f"""
    SELECT entry.* FROM messaging_searchentry entry
    WHERE entry.words @@ %(query)s::tsquery AND {{scope}} {NEWEST_FIRST} LIMIT {MATCHES_MAX}
"""  # noqa: S608  as above
RANKED = """
SELECT rank, created_at, message_id FROM (
    SELECT ts_rank(entry.words, %(query)s::tsquery) AS rank, entry.created_at, entry.message_id FROM ({matches}) entry
) matching WHERE {after} ORDER BY rank DESC, created_at DESC, message_id DESC LIMIT {limit:d}
"""
AFTER = "(rank, created_at, message_id) < (%(rank)s::float4, %(created_at)s, %(id)s)"


def condition_of(scope: Iterable[str]) -> str:
    return " AND ".join(SCOPES[name] for name in scope) or EVERYWHERE


class Match(NamedTuple):
    """A post that matches, in the order of the columns of a position."""

    rank: float
    created_at: datetime
    message_id: UUID


def find_matches(*, text: str, scope: dict[str, Any], after: Position | None, limit: int) -> list[Match]:
    """The matches after a position: best rank first, then newest. `scope`: the ids of SCOPES to search in."""
    condition = condition_of(scope)
    sampled = fetch_one(SAMPLED.format(scope=condition), {"text": text, **scope})
    if sampled is None or not sampled[1]:
        return []
    query, _nodes, indexable, found = sampled
    # Without an indexable part, such as in `-word`, the index would be read as a whole.
    by_index = found < COMMON and indexable not in ("", "T")
    matches = (OF_RARE_WORDS if by_index else OF_COMMON_WORDS).format(scope=condition)
    values = {"query": query, **scope}
    if after is not None:
        values |= zip(("rank", "created_at", "id"), after, strict=True)
    statement = RANKED.format(matches=matches, after="true" if after is None else AFTER, limit=limit)
    return [Match(*row) for row in fetch_all(statement, values)]
