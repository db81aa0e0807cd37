"""JSON Lines of `docs/export-schema.md`: everything public that the service stores about posts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson
from django.conf import settings
from django.utils import timezone

from messaging.posts.message_fields import MESSAGE_FIELDS
from moving.exports.reading import ExportedPost, Reader
from moving.own_format import FORMAT, VERSION

# What follows from other fields and lines.
DERIVED = {"url", "authorRole", "pageId", "quote", "replyCount", "quoteCount", "reactionCounts", "reactionTotal"}
# A field that is added to messages is exported.
FIELDS = [field.name for field in MESSAGE_FIELDS if field.name not in DERIVED]
OPTIONS = orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z


def write(reader: Reader) -> Iterator[bytes]:
    yield _line(
        type="header",
        format=FORMAT,
        version=VERSION,
        exportedAt=timezone.now(),
        exportedFrom=settings.BASE_URL,
        scope=reader.scope.names,
    )
    posts = reactions = 0
    for post in reader.posts():
        posts += 1
        for line, written in _lines(post):
            reactions += written
            yield line
    yield _line(type="end", posts=posts, reactions=reactions)


def _lines(post: ExportedPost) -> Iterator[tuple[bytes, int]]:
    """The line of the post and those of its further reactions, each with the number of its reactions."""
    fields = {name: post.message[name] for name in FIELDS if post.message[name] not in (None, "")}
    first = next(post.reactions, [])
    yield _line(type="post", **fields, reactions=first), len(first)
    for part in post.reactions:
        yield _line(type="reactions", postId=post.message["id"], reactions=part), len(part)


def _line(**values: Any) -> bytes:
    return orjson.dumps(values, option=OPTIONS)
