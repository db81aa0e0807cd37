"""WordPress's WXR: items, which have the address, with their comments inside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

from moving.formats.records import (
    ADDRESS_MAX,
    TITLE_MAX,
    Author,
    Post,
    Record,
    Source,
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

CHANNEL = "rss/channel"
ITEM = f"{CHANNEL}/item"
COMMENT = f"{ITEM}/wp:comment"
COMMENT_FIELDS = frozenset(
    {
        "wp:comment_id",
        "wp:comment_author",
        "wp:comment_author_email",
        "wp:comment_date",
        "wp:comment_date_gmt",
        "wp:comment_content",
        "wp:comment_approved",
        "wp:comment_type",
        "wp:comment_parent",
        "wp:comment_user_id",
    }
)
ITEM_FIELDS = frozenset(
    {"link", "title", "wp:post_id", "wp:post_date", "wp:post_date_gmt", "wp:status", "wp:post_password"}
)
CHANNEL_FIELDS = frozenset({"wp:base_blog_url"})
SHAPE = Shape("WordPress", "rss", {CHANNEL: CHANNEL_FIELDS, ITEM: ITEM_FIELDS, COMMENT: COMMENT_FIELDS})
# Of an item that readers see; attachments inherit the status of their page.
SHOWN = frozenset({"", "publish", "inherit", "closed"})
STATES: Mapping[str, State] = {
    "1": "published",
    "approve": "published",
    "approved": "published",
    "0": "pending",
    "hold": "pending",
    "trash": "deleted",
    "post-trashed": "withdrawn",
    "spam": "spam",
}
TYPES = frozenset({"", "comment"})
NO_DATE = "0000-00-00"


def read(source: Source) -> Iterator[Record]:
    for element in elements(source, SHAPE):
        if isinstance(element, Unusable):
            yield element
        elif element.path == COMMENT:
            yield _post(element)


def _post(element: Element) -> Record:
    fields = {key.removeprefix("wp:comment_"): value for key, value in element.fields.items()}
    source_id = identifier(fields.get("id"))
    address = line(element.outer.get("link"), ADDRESS_MAX)
    state = _state(fields, element.outer)
    if not source_id:
        return Unusable("", address, "A comment has no id.")
    if element.is_too_long:
        return Unusable(source_id, address, "The comment is longer than 16 MB.")
    if state is None:
        return Unusable(source_id, address, "The state or the type of the comment is not known.")
    is_shown = state in {"published", "pending"}
    return Post(
        source_id=source_id,
        parent_id=_parent(fields.get("parent")),
        address=address,
        author=_author(fields),
        created_at=_time(fields.get("date_gmt")),
        thread_created_at=_time(element.outer.get("wp:post_date_gmt")),
        edited_at=None,
        text=html_to_markdown(clean(fields.get("content")), has_line_breaks=True) if is_shown else "",
        state=state,
        score=None,
        site=line(element.outer.get("wp:base_blog_url"), ADDRESS_MAX) or "/",
        identifier=identifier(element.outer.get("wp:post_id")),
        title=line(element.outer.get("title"), TITLE_MAX),
        created_local=_local(fields.get("date")),
        thread_created_local=_local(element.outer.get("wp:post_date")),
    )


def _state(fields: Mapping[str, str], item: Mapping[str, str]) -> State | None:
    kind = fields.get("type", "").strip()
    if kind in {"pingback", "trackback"}:
        return "pingback"
    state = STATES.get(fields.get("approved", "").strip())
    if state is None or kind not in TYPES:
        return None
    return state if _is_shown(item) else "withdrawn"


def _is_shown(item: Mapping[str, str]) -> bool:
    return item.get("wp:status", "").strip() in SHOWN and not item.get("wp:post_password", "").strip()


def _author(fields: Mapping[str, str]) -> Author:
    user_id = identifier(fields.get("user_id"))
    return author_of(
        source_id=f"user:{user_id}" if user_id not in {"", "0"} else "",
        name=fields.get("author", ""),
        email=fields.get("author_email", ""),
    )


def _parent(value: str | None) -> str:
    parent = identifier(value)
    return "" if parent == "0" else parent


def _time(value: str | None) -> datetime | None:
    """WordPress writes zeros for no date."""
    return None if not value or value.startswith(NO_DATE) else time_of(value)


def _local(value: str | None) -> datetime | None:
    time = _time(value)
    return time and time.replace(tzinfo=None)
