"""Commento's export, one JSON document: the comments, and after them who wrote them. The file is read twice."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from moving.formats.json import Document
from moving.formats.json_records import records, require_version, scan
from moving.formats.records import (
    ADDRESS_MAX,
    NO_ONE,
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
    score_of,
    time_of,
)
from moving.html_to_markdown import html_to_markdown

VERSION = 1
NO_EXPORT = "The file is no export of Commento: it is no JSON object with a version and comments."
STATES: Mapping[str, State] = {"approved": "published", "unapproved": "pending", "flagged": "spam"}


def read(source: Source) -> Iterator[Record]:
    commenters = SpillingMap()
    try:
        outline = scan(source, Document(frozenset({"commenters"})), partial(_add, commenters), refusal=NO_EXPORT)
        require_version(outline, program="Commento", version=VERSION, refusal=NO_EXPORT)
        yield from records(source, Document(frozenset({"comments"})), partial(_post, commenters))
    finally:
        commenters.close()


def _add(commenters: SpillingMap, _name: str, commenter: dict[str, Any]) -> None:
    name, email = line(commenter.get("name"), 1000), line(commenter.get("email"), 300)
    commenters.add(identifier(commenter.get("commenterHex")), json.dumps([name, email]))


def _post(commenters: SpillingMap, comment: dict[str, Any], number: int) -> Record:
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
