"""Disqus's XML: threads, which have the addresses, and then posts, which name their thread."""

from __future__ import annotations

import json
from collections.abc import Iterator

from moving.formats.records import (
    ADDRESS_MAX,
    TITLE_MAX,
    Author,
    Post,
    Record,
    Source,
    SpillingMap,
    State,
    Unusable,
    author_of,
    clean,
    identifier,
    line,
    time_of,
)
from moving.formats.xml import Element, Shape, elements
from moving.html_to_markdown import html_to_markdown

THREAD = frozenset({"@dsq:id", "id", "title", "link", "createdAt", "isDeleted"})
AUTHOR = frozenset({"author/email", "author/name", "author/isAnonymous", "author/username"})
POST = AUTHOR | {"@dsq:id", "message", "createdAt", "isDeleted", "isSpam", "isApproved"}
POST |= {"thread@dsq:id", "parent@dsq:id"}
SHAPE = Shape("Disqus", "disqus", {"disqus/thread": THREAD, "disqus/post": POST})


def read(source: Source) -> Iterator[Record]:
    threads = SpillingMap()
    try:
        for element in elements(source, SHAPE):
            if isinstance(element, Unusable):
                yield element
            elif element.path == "disqus/thread":
                _add_thread(threads, element.fields)
            else:
                yield _post(threads, element)
    finally:
        threads.close()


def _add_thread(threads: SpillingMap, fields: dict[str, str]) -> None:
    """A site that names its threads itself gives them an identifier, and perhaps no link."""
    thread_id = identifier(fields.get("@dsq:id"))
    own_id, title = line(fields.get("id"), TITLE_MAX), line(fields.get("title"), TITLE_MAX)
    known = [line(fields.get("link"), ADDRESS_MAX), own_id or thread_id, title, fields.get("createdAt")]
    threads.add(thread_id, json.dumps([*known, _is(fields, "isDeleted")]))


def _post(threads: SpillingMap, element: Element) -> Record:
    fields = element.fields
    source_id = identifier(fields.get("@dsq:id"))
    if not source_id:
        return Unusable("", "", "A post has no id.")
    thread = threads.get(identifier(fields.get("thread@dsq:id")))
    if thread is None:
        return Unusable(source_id, "", "The post names no thread that comes before it in the file.")
    address, own_id, title, thread_created_at, is_withdrawn = json.loads(thread)
    if element.is_too_long:
        return Unusable(source_id, address or own_id, "The post is longer than 16 MB.")
    state = _state(fields, is_withdrawn=is_withdrawn)
    return Post(
        source_id=source_id,
        parent_id=identifier(fields.get("parent@dsq:id")),
        address=address,
        author=_author(fields),
        created_at=time_of(fields.get("createdAt")),
        thread_created_at=time_of(thread_created_at),
        edited_at=None,
        text=html_to_markdown(clean(fields.get("message"))) if state in {"published", "pending"} else "",
        state=state,
        score=None,
        identifier=own_id,
        title=title,
    )


def _state(fields: dict[str, str], *, is_withdrawn: bool) -> State:
    if is_withdrawn:
        return "withdrawn"
    if _is(fields, "isSpam"):
        return "spam"
    if _is(fields, "isDeleted"):
        return "deleted"
    return "pending" if fields.get("isApproved", "").strip().lower() == "false" else "published"


def _author(fields: dict[str, str]) -> Author:
    username, is_anonymous = line(fields.get("author/username"), 200), _is(fields, "author/isAnonymous")
    return author_of(
        source_id=f"user:{username}" if username and not is_anonymous else "",
        name=fields.get("author/name", ""),
        email=fields.get("author/email", ""),
        is_anonymous=is_anonymous,
    )


def _is(fields: dict[str, str], key: str) -> bool:
    return fields.get(key, "").strip().lower() in {"true", "1"}
