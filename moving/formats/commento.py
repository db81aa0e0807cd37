"""Commento's export, one JSON document: the comments, and after them who wrote them. The file is read twice."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from moving.formats.json_document import Document, Part
from moving.formats.json_lines import Damage, object_of
from moving.formats.records import Author, Post, Record, State, UnreadableFile, Unusable
from moving.formats.source import CutOff, Source
from moving.formats.spill import SpillingMap
from moving.formats.values import ADDRESS_MAX, NO_ONE, author_of, clean, identifier, line, score_of, time_of
from moving.html_to_markdown import html_to_markdown

VERSIONS = (1,)
VERSION = re.compile(rb'"version"\s*:\s*(\d{1,9})\s*[,}]')
NO_EXPORT = "The file is no export of Commento: it is no JSON object with a version and comments."
STATES: Mapping[str, State] = {"approved": "published", "unapproved": "pending", "flagged": "spam"}


def read(source: Source) -> Iterator[Record]:
    commenters = SpillingMap()
    try:
        _read_commenters(source, commenters)
        yield from _comments(source, commenters)
    finally:
        commenters.close()


def _read_commenters(source: Source, commenters: SpillingMap) -> None:
    """The first reading, which also checks that the file is an export. It makes no progress."""
    document = Document(frozenset({"commenters"}))
    try:
        for piece in replace(source, on_progress=lambda _size: None).pieces():
            for part in document.feed(piece):
                _add_commenter(commenters, part)
            _check_begin(document)
    except CutOff:
        pass
    match = VERSION.search(document.outline)
    if match is None or b'"comments"' not in document.outline:
        raise UnreadableFile(NO_EXPORT)
    if int(match[1]) not in VERSIONS:
        known = ", ".join(map(str, VERSIONS))
        raise UnreadableFile(f"The export of Commento has version {int(match[1])}. Known is version {known}.")


def _check_begin(document: Document) -> None:
    """A large file of another kind is refused at once."""
    if not document.outline.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        raise UnreadableFile(NO_EXPORT)


def _add_commenter(commenters: SpillingMap, part: Part) -> None:
    try:
        commenter = object_of(part.content)
    except Damage:
        return
    name, email = line(commenter.get("name"), 1000), line(commenter.get("email"), 300)
    commenters.add(identifier(commenter.get("commenterHex")), json.dumps([name, email]))


def _comments(source: Source, commenters: SpillingMap) -> Iterator[Record]:
    document = Document(frozenset({"comments"}))
    number = 0
    try:
        for piece in source.pieces():
            for part in document.feed(piece):
                number += 1
                yield _record(part, number, commenters)
    except CutOff:
        yield Unusable("", "", "The compressed file is cut off or damaged. What follows is not read.")
        return
    if not document.is_complete():
        yield Unusable("", "", f"The JSON is cut off or damaged after comment {number}. What follows is not read.")


def _record(part: Part, number: int, commenters: SpillingMap) -> Record:
    try:
        return _post(object_of(part.content), number, commenters)
    except Damage as error:
        return Unusable("", "", f"Comment {number} is not read. {error}")


def _post(comment: dict[str, Any], number: int, commenters: SpillingMap) -> Record:
    source_id = identifier(comment.get("commentHex"))
    address, page_id = _address(comment)
    if not source_id:
        return Unusable("", address or page_id, f"Comment {number} has no id.")
    state = "deleted" if comment.get("deleted") is True else STATES.get(str(comment.get("state")))
    if state is None:
        return Unusable(source_id, address or page_id, "The state of the comment is not known.")
    text = clean(comment.get("markdown")) or html_to_markdown(clean(comment.get("html")))
    if not text.strip() and state != "deleted":
        return Unusable(source_id, address or page_id, "The comment has no text.")
    parent_id = identifier(comment.get("parentHex"))
    return Post(
        source_id=source_id,
        parent_id="" if parent_id == "root" else parent_id,
        address=address,
        author=_author(identifier(comment.get("commenterHex")), commenters),
        created_at=time_of(comment.get("creationDate")),
        thread_created_at=None,
        edited_at=None,
        text=text if state in {"published", "pending"} else "",
        state=state,
        score=score_of(comment.get("score")),
        identifier=page_id,
    )


def _address(comment: dict[str, Any]) -> tuple[str, str]:
    """(the address, "") or ("", what the site calls the page itself, which is no path). Commento stores no scheme."""
    domain, path = line(comment.get("domain"), 300), line(comment.get("url"), ADDRESS_MAX)
    if path and not path.startswith("/"):
        return "", path
    return (f"https://{domain}{path or '/'}" if domain else path), ""


def _author(commenter: str, commenters: SpillingMap) -> Author:
    if commenter in {"", "anonymous"}:
        return NO_ONE
    found = commenters.get(commenter)
    name, email = json.loads(found) if found else ("", "")
    return author_of(source_id=commenter, name=name, email=email)
