"""remark42's backup and its stream of an export: a line about the site, then one comment a line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

from moving.formats.json import Damage, Line, lines, object_of
from moving.formats.records import (
    ADDRESS_MAX,
    NO_ONE,
    Author,
    CutOff,
    Post,
    Record,
    Source,
    UnreadableFile,
    Unusable,
    author_of,
    clean,
    identifier,
    line,
    score_of,
    time_of,
)
from moving.html_to_markdown import html_to_markdown

VERSIONS = (1,)
# The provider of a sign-in is the prefix of a user id.
ANONYMOUS = "anonymous_"
NO_EXPORT = (
    "The file is no export of remark42: its first line names no version. Use the file of the command `backup`, or of "
    "`/api/v1/admin/export?mode=stream`."
)


def read(source: Source) -> Iterator[Record]:
    all_lines = lines(source)
    try:
        _check(next(all_lines, None))
    except CutOff as error:
        raise UnreadableFile(NO_EXPORT) from error
    try:
        for each in all_lines:
            yield _record(each)
    except CutOff:
        yield Unusable("", "", "The compressed file is cut off or damaged. What follows is not read.")


def _check(first: Line | None) -> None:
    """The first line is `{"version": 1, "users": […], "posts": […]}`, of any length."""
    if first is None:
        raise UnreadableFile("The file is empty. An export of remark42 is expected.")
    match = re.match(rb'\s*\{\s*"version"\s*:\s*(\d{1,9})\s*[,}]', (first.content or b"")[:200])
    if match is None:
        raise UnreadableFile(NO_EXPORT)
    if int(match[1]) not in VERSIONS:
        known = ", ".join(map(str, VERSIONS))
        raise UnreadableFile(f"The export of remark42 has version {int(match[1])}. Known is version {known}.")


def _record(each: Line) -> Record:
    try:
        return _post(object_of(each.content), each.number)
    except Damage as error:
        return Unusable("", "", f"Line {each.number} is not read. {error}")


def _post(comment: dict[str, Any], number: int) -> Record:
    source_id = identifier(comment.get("id"))
    if not source_id:
        return Unusable("", "", f"Line {number} is no comment: it has no id.")
    locator = comment.get("locator")
    # remark42 stores addresses escaped as in HTML.
    address = line(locator.get("url") if isinstance(locator, dict) else "", ADDRESS_MAX).replace("&amp;", "&")
    if not address:
        return Unusable(source_id, "", "The comment has no address.")
    edit = comment.get("edit")
    is_deleted = comment.get("delete") is True
    return Post(
        source_id=source_id,
        parent_id=identifier(comment.get("pid")),
        address=address,
        author=_author(comment.get("user")),
        created_at=time_of(comment.get("time")),
        thread_created_at=None,
        edited_at=time_of(edit.get("time")) if isinstance(edit, dict) else None,
        text="" if is_deleted else _text(comment),
        state="deleted" if is_deleted else "published",
        score=score_of(comment.get("score")),
    )


def _text(comment: dict[str, Any]) -> str:
    """The Markdown as typed, which comments that remark42 has imported do not have."""
    return clean(comment.get("orig")) or html_to_markdown(clean(comment.get("text")))


def _author(user: object) -> Author:
    if not isinstance(user, dict):
        return NO_ONE
    source_id = identifier(user.get("id"))
    return author_of(
        source_id=source_id,
        # Names are escaped as in HTML.
        name=unescape(line(user.get("name"), 1000)),
        email=clean(user.get("email")),
        is_anonymous=source_id.startswith(ANONYMOUS),
    )
