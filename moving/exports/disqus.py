"""The XML of Disqus's exports: threads are pages, texts are HTML. Reactions, tags and quotes have no place in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from html import escape
from typing import Any

from messaging.accounts.deleted import NOBODY
from messaging.markdown.html import to_html
from moving.exports.reading import ExportedPage, ExportedPost, Reader

HEAD = """<?xml version="1.0" encoding="utf-8"?>
<disqus xmlns="http://disqus.com" xmlns:dsq="http://disqus.com/disqus-internals" \
xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://disqus.com/api/schemas/1.0/disqus.xsd \
http://disqus.com/api/schemas/1.0/disqus-internals.xsd">
<category dsq:id="1"><forum>{forum}</forum><title>General</title><isDefault>true</isDefault></category>
"""
FOOT = "</disqus>\n"
THREAD = """<thread dsq:id="{id}"><id>{id}</id><forum>{forum}</forum><category dsq:id="1"/><link>{link}</link>\
<title>{link}</title><message/><createdAt>{at}</createdAt><author><email/><name>{forum}</name>\
<isAnonymous>true</isAnonymous></author><ipAddress/><isClosed>false</isClosed><isDeleted>false</isDeleted></thread>
"""
POST = """<post dsq:id="{id}"><id>{id}</id><message>{message}</message><createdAt>{at}</createdAt>\
<isDeleted>{is_deleted}</isDeleted><isSpam>false</isSpam><isApproved>{is_approved}</isApproved>{author}<ipAddress/>\
<thread dsq:id="{thread}"/>{parent}</post>
"""
ACCOUNT = "<author><email/><name>{name}</name><isAnonymous>false</isAnonymous><username>{handle}</username></author>"
GUEST = "<author><email/><name>{name}</name><isAnonymous>true</isAnonymous></author>"
# XML 1.0 has no way to write these. A carriage return is written as a reference, else readers take it for a line feed.
IMPOSSIBLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write(reader: Reader) -> Iterator[bytes]:
    forum = _text(reader.scope.filename)
    yield HEAD.format(forum=forum).encode()
    for page in reader.pages():
        yield _thread(page, forum).encode()
    for post in reader.posts():
        yield _post(post).encode()
    yield FOOT.encode()


def _thread(page: ExportedPage, forum: str) -> str:
    return THREAD.format(id=page.id, link=_text(page.url), forum=forum, at=_time(page.first_post_at))


def _post(post: ExportedPost) -> str:
    message = post.message
    parent = f'<parent dsq:id="{message["parentId"]}"/>' if message["parentId"] else ""
    return POST.format(
        id=message["id"],
        message=_text(to_html(message["content"])),
        at=_time(message["createdAt"]),
        is_deleted=str(message["status"] == "deleted").lower(),
        is_approved=str(message["status"] != "pending").lower(),
        author=_author(message["author"]),
        thread=message["pageId"],
        parent=parent,
    )


def _author(author: dict[str, Any]) -> str:
    name = _text(author["name"])
    return GUEST.format(name=name) if author["id"] == NOBODY else ACCOUNT.format(name=name, handle=author["handle"])


def _text(text: str) -> str:
    return escape(IMPOSSIBLE.sub("", text), quote=False).replace("\r", "&#13;")


def _time(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
