"""Twikoo's export: a JSON array of comments, or one comment a line.

The first is what `COMMENT_EXPORT_FOR_ADMIN` of Twikoo's servers answers and its panel saves as `comment.json`, the
second what its database exports; `utils/import.js` of Twikoo reads both. The fields are those that `parse` of
`function/twikoo/index.js` stores. The anchor of a comment is its `_id` alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urljoin

from moving.formats.json import Damage, lines, object_of
from moving.formats.json_records import CUT_OFF, first_byte, records_of_list
from moving.formats.records import (
    ADDRESS_MAX,
    CutOff,
    Post,
    Record,
    Source,
    UnreadableFile,
    Unusable,
    clean,
    identifier,
    line,
)
from moving.formats.typed import time_of_any, writer_of
from moving.html_to_markdown import html_to_markdown

NEEDED = ("_id", "comment", "url", "created")
NO_EXPORT = "The file is no export of Twikoo: it is no JSON array of comments with `_id` and `url`."


def read(source: Source) -> Iterator[Record]:
    if first_byte(source) == b"{":
        return _of_lines(source)
    return records_of_list(source, _post, needed=NEEDED, refusal=NO_EXPORT)


def _of_lines(source: Source) -> Iterator[Record]:
    is_known = False
    try:
        for each in lines(source):
            try:
                comment = object_of(each.content)
            except Damage as error:
                yield Unusable("", "", f"Line {each.number} is not read. {error}")
                continue
            if not is_known and not comment.keys() >= set(NEEDED):
                break
            is_known = True
            yield _post(comment, each.number)
    except CutOff:
        yield Unusable("", "", CUT_OFF)
    if not is_known:
        raise UnreadableFile(NO_EXPORT)


def _post(comment: dict[str, Any], number: int) -> Record:
    source_id = _id(comment.get("_id"))
    path = line(comment.get("url"), ADDRESS_MAX)
    address = _address(path, line(comment.get("href"), ADDRESS_MAX))
    if not source_id:
        return Unusable("", address, f"Comment {number} has no id.")
    # Also what awaits a review is marked so.
    is_spam = comment.get("isSpam") is True
    likes = comment.get("like")
    return Post(
        source_id=source_id,
        parent_id=_id(comment.get("pid")) or _id(comment.get("rid")),
        address=address,
        author=writer_of(comment.get("nick"), comment.get("mail")),
        created_at=time_of_any(comment.get("created")),
        thread_created_at=None,
        edited_at=None,
        text="" if is_spam else html_to_markdown(clean(comment.get("comment"))),
        state="spam" if is_spam else "published",
        score=len(likes) if isinstance(likes, list) else None,
        identifier="" if path.startswith("/") else path,
    )


def _id(value: object) -> str:
    """MongoDB exports an id as an object."""
    return identifier(value.get("$oid") if isinstance(value, dict) else value)


def _address(path: str, address: str) -> str:
    """The path by which Twikoo finds the comments of a page, on the host on which this one was written."""
    if not path.startswith("/"):
        return address
    try:
        return urljoin(address, path)
    except ValueError:
        return path
