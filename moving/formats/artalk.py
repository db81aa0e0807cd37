"""Artalk's export, "Artrans": a JSON array of comments, whose values all are texts.

The format is that of https://artalk.js.org/en/guide/transfer.html, `entity.Artran` and `artransfer/exporter.go` of
Artalk. A path in `page_key` is below the first address of `site_urls`, as in `GetPageAccessibleURL` of Artalk. The
anchor of a comment is `#atk-comment-` and its id.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from urllib.parse import urljoin

from moving.formats.json_records import records_of_list
from moving.formats.records import (
    ADDRESS_MAX,
    TITLE_MAX,
    Post,
    Record,
    Source,
    Unusable,
    clean,
    identifier,
    line,
    score_of,
    time_of,
)
from moving.formats.typed import typed_or_html, whole, writer_of

NEEDED = ("id", "content", "page_key")
NO_EXPORT = "The file is no export of Artalk: it is no JSON array of comments with `page_key`."
# As Go writes a time: `2021-10-28 20:50:15.123456789 +0800 CST`.
TIME = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2}) ([0-9:]{8}(?:\.[0-9]{1,6})?)[0-9]* ([+-][0-9]{4})\b")


def read(source: Source) -> Iterator[Record]:
    return records_of_list(source, _post, needed=NEEDED, refusal=NO_EXPORT)


def _post(comment: dict[str, Any], number: int) -> Record:
    source_id = identifier(comment.get("id"))
    site = line(comment.get("site_urls"), ADDRESS_MAX).partition(",")[0].strip()
    page_key = line(comment.get("page_key"), ADDRESS_MAX)
    address = _address(site, page_key)
    if not source_id:
        return Unusable("", address, f"Comment {number} has no id.")
    parent_id = identifier(comment.get("rid"))
    return Post(
        source_id=source_id,
        parent_id="" if parent_id == "0" else parent_id,
        address=address,
        author=writer_of(comment.get("nick"), comment.get("email")),
        created_at=_time(comment.get("created_at")),
        thread_created_at=None,
        edited_at=None,
        text=typed_or_html(clean(comment.get("content"))),
        state="pending" if comment.get("is_pending") == "true" else "published",
        score=_score(comment),
        site=site or "/",
        identifier=page_key if "/" not in address else "",
        title=line(comment.get("page_title"), TITLE_MAX),
    )


def _address(site: str, page_key: str) -> str:
    try:
        return urljoin(site, page_key) if site else page_key
    except ValueError:
        return page_key


def _score(comment: dict[str, Any]) -> int | None:
    up, down = whole(comment.get("vote_up")), whole(comment.get("vote_down"))
    return None if up is None or down is None else score_of(up - down)


def _time(value: object) -> datetime | None:
    text = clean(value)
    match = TIME.match(text)
    return time_of(f"{match[1]}T{match[2]}{match[3]}" if match else text)
