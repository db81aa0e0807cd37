"""Texts of posts as HTML, for feeds and the pages of permalinks.

What costs much to render is stored when it is first read. A reader renders as much as a budget allows, and shows other
texts as typed; the next readers render these. A row belongs to a text and a renderer: another one renders again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from hashlib import blake2b, sha256
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, Error, connections

from kernel.database.sql import execute, fetch_all, statements_on
from messaging import markdown
from messaging.markdown.html import Budget, Rendered, as_typed, cost_of, render, rendered

# A text of a lower cost is rendered again by each process: that takes no longer than to read it.
STORED_FROM = 100
FIND = """
SELECT message_id, source, html, plain FROM messaging_rendering
WHERE message_id = ANY(%(ids)s::uuid[]) AND source = ANY(%(sources)s) AND renderer = %(renderer)s
"""
# The lock makes an edit or an erasure wait, whose trigger then deletes the row. A post that one has locked is left out.
STORE = """
INSERT INTO messaging_rendering (message_id, source, renderer, html, plain)
SELECT m.id, made.source, %(renderer)s, made.html, made.plain
FROM unnest(%(ids)s::uuid[], %(sources)s::bytea[], %(contents)s::bytea[], %(html)s::text[], %(plain)s::text[])
    AS made(id, source, content, html, plain)
JOIN messaging_message m ON m.id = made.id AND sha256(convert_to(m.content, 'UTF8')) = made.content
FOR SHARE OF m SKIP LOCKED
ON CONFLICT (message_id, source)
    DO UPDATE SET renderer = excluded.renderer, html = excluded.html, plain = excluded.plain
"""


class Source(NamedTuple):
    """The content of a post, and what is shown of it."""

    message_id: UUID
    content: str
    shown: str


Key = tuple[UUID, bytes]


def render_texts(sources: Iterable[Source]) -> dict[Source, Rendered]:
    """What is shown of each, at a bounded cost."""
    budget, texts, made = Budget(), {}, {}
    keys = {source: _key(source) for source in sources}
    stored = _find([key for source, key in keys.items() if cost_of(source.shown) > STORED_FROM])
    for source, key in keys.items():
        if key in stored:
            texts[source] = stored[key]
        elif not budget.allows(source.shown):
            texts[source] = as_typed(source.shown)
        elif cost_of(source.shown) > STORED_FROM:
            texts[source] = made[source] = render(source.shown)
        else:
            texts[source] = rendered(source.shown)
    if made:
        _store(made, keys)
    return texts


def _key(source: Source) -> Key:
    return source.message_id, blake2b(source.shown.encode(), digest_size=16).digest()


def _find(keys: list[Key]) -> dict[Key, Rendered]:
    if not keys:
        return {}
    ids, digests = zip(*keys, strict=True)
    rows = fetch_all(FIND, {"ids": list(ids), "sources": list(digests), "renderer": renderer()})
    return {(message_id, bytes(digest)): Rendered(html, plain) for message_id, digest, html, plain in rows}


def _store(made: Mapping[Source, Rendered], keys: Mapping[Source, Key]) -> None:
    """Store these on the primary. A read does not fail, or wait for a connection, because they cannot be stored."""
    if connections[DEFAULT_DB_ALIAS].connection is None:
        return
    values = {
        "ids": [source.message_id for source in made],
        "sources": [keys[source][1] for source in made],
        "contents": [sha256(source.content.encode()).digest() for source in made],
        "html": [text.html for text in made.values()],
        "plain": [text.plain for text in made.values()],
        "renderer": renderer(),
    }
    with suppress(Error), statements_on(DEFAULT_DB_ALIAS):
        execute(STORE, values)


@cache
def renderer() -> int:
    """A number for the code that renders: that of this service and of the packages it uses."""
    code = blake2b(digest_size=8)
    for file in sorted(Path(markdown.__path__[0]).glob("*.py")):
        code.update(file.read_bytes())
    for package in ("markdown-it-py", "ada-url"):
        code.update(version(package).encode())
    return int.from_bytes(code.digest(), signed=True)
