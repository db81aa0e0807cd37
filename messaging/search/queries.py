"""Full text search, in two statements: how common the words are, then the posts that match.

At most MATCHES_MAX matches, the newest, are ranked. A word that many posts have is found by reading the newest posts
until there are so many matches: the GIN index would return all of them, in no order. A rare word is found by the index,
except in a scope that has no more posts than were read for the count: those are read again.

The first statement, and the second one for common words, read an index in its order (READ_IN_ORDER). By its statistics,
PostgreSQL may expect a few posts in any page or community, and would then read and sort all of them before the limit.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db import transaction

from kernel.api.pagination import Position
from kernel.database.sql import current_alias, fetch_all, fetch_one
from messaging.posts.shown import Shown
from messaging.word_lists.characters import OVERLAYS, UNSPACED

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
QUOTED = re.compile(r'("[^"]*")')
# The marks and signs of scripts without spaces are listed, so that each Python searches as the others. The database has
# the same marks, and ignores those of IGNORED_MARKS.
UNSPACED_MARKS = (
    r"\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u102b-\u103e\u1056-\u1059\u105e-\u1060\u1062-\u1064"
    r"\u1067-\u106d\u1071-\u1074\u1082-\u108d\u108f\u109a-\u109d\u17b4-\u17d3\u17dd\u1a55-\u1a5e\u1a60-\u1a7c\u1a7f"
    r"\ua9e5\uaa7b-\uaa7d\uaab0\uaab2-\uaab4\uaab7\uaab8\uaabe\uaabf\uaac1\U0001171d-\U0001172b\U00016fe4\U00016ff0\U00016ff1"
)
UNSPACED_SIGNS = (
    r"\u0e3f\u0e4f\u0e5a\u0e5b\u104a-\u104f\u109e\u109f\u17d4-\u17d6\u17d8-\u17db\u19de-\u19ff\u1aa0-\u1aa6\u1aa8-\u1aad"
    r"\u3030\u3036\u3037\u303d-\u303f\u309b\u309c\u30a0\u30fb\uaa77-\uaa79\uaade\uaadf\U0001173c-\U0001173f\U00016fe2"
)
IGNORED_MARKS = rf"{OVERLAYS}\u302a-\u302f\u3099\u309a\ufe00-\ufe0f\U000e0100-\U000e01ef"
UNSPACED_LETTER = (
    rf"(?![{UNSPACED_MARKS}{UNSPACED_SIGNS}{IGNORED_MARKS}])[{UNSPACED}][{UNSPACED_MARKS}{IGNORED_MARKS}]*"
)
# Letters of a script without spaces are words of their own, of which only those side by side are meant.
RUN = re.compile(rf"(-?)((?:{UNSPACED_LETTER})+)")
# What the index looks up: the words that must occur. It has no positions for phrases, and cannot exclude a word.
LOOKED_UP = "regexp_replace(querytree(query.parsed), '<(-|[0-9]+)>', '&', 'g')::tsquery"
SCOPES = {"page_id": "entry.page_id = %(page_id)s", "community_id": "entry.community_id = %(community_id)s"}
# For what an embed shows with posts of everyone: an entry has neither the author nor the thread of its post.
AMONG_SHOWN = "EXISTS (SELECT FROM messaging_message m WHERE m.id = entry.message_id AND {condition})"
# Always true; it selects the index of all entries (see the model).
EVERYWHERE = "entry.page_id <> ''"
NEWEST_FIRST = "ORDER BY entry.created_at DESC, entry.message_id DESC"
NEWEST = "SELECT entry.* FROM messaging_searchentry entry WHERE {{scope}} {order} LIMIT {limit}"
SAMPLED = f"""
SELECT query.parsed::text, numnode(query.parsed), querytree(query.parsed), sample.found, sample.read
FROM (SELECT {QUERY} AS parsed OFFSET 0) query, LATERAL (SELECT {LOOKED_UP} AS words OFFSET 0) looked_up, LATERAL (
    SELECT count(*) FILTER (WHERE newest.words @@ looked_up.words) AS found, count(*) AS read
    FROM ({NEWEST.format(order=NEWEST_FIRST, limit=SAMPLE)}) newest
) sample
"""  # noqa: S608  built from constants
OF_COMMON_WORDS = f"""
    SELECT entry.* FROM ({NEWEST.format(order=NEWEST_FIRST, limit=READ_MAX)}) entry
    WHERE entry.words @@ %(query)s::tsquery AND {{filter}} {NEWEST_FIRST} LIMIT {MATCHES_MAX}
"""  # noqa: S608  as above
# The generic plan expects 0.5% of all posts to match. With the limit inside, it would read a large table in order of
# time until there are enough matches: all of it for a rare word.
OF_RARE_WORDS = f"""
    SELECT entry.* FROM (
        SELECT entry.* FROM messaging_searchentry entry
        WHERE entry.words @@ %(query)s::tsquery AND {{scope}} AND {{filter}} OFFSET 0
    ) entry {NEWEST_FIRST} LIMIT {MATCHES_MAX}
"""  # noqa: S608  as above
# By how often a post has the words. For a query of `&`, ts_rank compares the places of each pair of words: with eight
# words, and a thousand long posts that repeat them, this takes eight seconds.
RANKED = """
SELECT rank, created_at, message_id FROM (
    SELECT ts_rank(entry.words, %(any)s::tsquery) AS rank, entry.created_at, entry.message_id FROM ({matches}) entry
) matching WHERE {after} ORDER BY rank DESC, created_at DESC, message_id DESC LIMIT {limit:d}
"""
READ_IN_ORDER = "SELECT set_config('enable_bitmapscan', 'off', true), set_config('enable_sort', 'off', true)"
JOINED = re.compile(r"&|<(?:-|\d+)>")
AFTER = "(rank, created_at, message_id) < (%(rank)s::float4, %(created_at)s, %(id)s)"


class Scope(NamedTuple):
    """The posts to search: `ids` has those of SCOPES; `shown`: what an embed shows."""

    ids: Mapping[str, Any]
    shown: Shown | None = None

    @property
    def condition(self) -> str:
        """On the rows of an index."""
        conditions = [SCOPES[name] for name in self.ids]
        if self.shown is not None and not self.shown.everyone:
            conditions.append(self.shown.any("entry"))
        return " AND ".join(conditions) or EVERYWHERE

    @property
    def filter(self) -> str:
        """On the entries that have the words."""
        conditions = []
        if self.shown is not None and self.shown.everyone and "page_id" not in self.ids:
            conditions.append(self.shown.on_its_pages("entry"))
        if self.shown is not None and self.shown.is_filtered:
            conditions.append(AMONG_SHOWN.format(condition=self.shown.any("m")))
        return " AND ".join(conditions) or "true"

    @property
    def values(self) -> dict[str, Any]:
        return {**self.ids, **(self.shown.values if self.shown else {})}

    def applied_to(self, statement: str) -> str:
        return statement.format(scope=self.condition, filter=self.filter)


EVERYTHING = Scope({})


class Match(NamedTuple):
    """A post that matches, in the order of the columns of a position."""

    rank: float
    created_at: datetime
    message_id: UUID


class Sample(NamedTuple):
    """The parsed query, and how many of the newest posts have what the index would look up."""

    query: str
    nodes: int
    indexable: str
    found: int
    read: int

    @property
    def is_rare(self) -> bool:
        """Without an indexable part, such as in `-word`, the index would be read as a whole."""
        return self.found < COMMON and self.read == SAMPLE and self.has_words

    @property
    def has_words(self) -> bool:
        return self.indexable not in ("", "T")

    @property
    def any(self) -> str:
        """The query for one of the words."""
        return JOINED.sub("|", self.indexable) if self.has_words else self.query


def find_matches(*, text: str, scope: Scope, after: Position | None, limit: int) -> list[Match]:
    """The matches after a position: best rank first, then newest."""
    with _reading_in_order():
        sample = _sample(text, scope)
        if not sample.nodes:
            return []
        if not sample.is_rare:
            return _ranked(OF_COMMON_WORDS, sample, scope, after, limit)
    return _ranked(OF_RARE_WORDS, sample, scope, after, limit)


@contextmanager
def _reading_in_order() -> Iterator[None]:
    """The settings end with the transaction. It is rolled back, so that they end with a savepoint as well."""
    alias = current_alias()
    with transaction.atomic(using=alias):
        fetch_one(READ_IN_ORDER)
        yield
        transaction.set_rollback(True, using=alias)


def with_phrases(text: str) -> str:
    """The query with each run of a script without spaces as a phrase, as if it had quotes."""
    parts = QUOTED.split(unicodedata.normalize("NFKC", text))
    return "".join(part if at % 2 else RUN.sub(r' \1"\2" ', part.replace('"', " ")) for at, part in enumerate(parts))


def _sample(text: str, scope: Scope) -> Sample:
    (row,) = fetch_all(scope.applied_to(SAMPLED), {"text": with_phrases(text), **scope.values})
    return Sample(*row)


def _ranked(matches: str, sample: Sample, scope: Scope, after: Position | None, limit: int) -> list[Match]:
    values = {"query": sample.query, "any": sample.any, **scope.values}
    if after is not None:
        values |= zip(("rank", "created_at", "id"), after, strict=True)
    matching = scope.applied_to(matches)
    statement = RANKED.format(matches=matching, after="true" if after is None else AFTER, limit=limit)
    return [Match(*row) for row in fetch_all(statement, values)]
