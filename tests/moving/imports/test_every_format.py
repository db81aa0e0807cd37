"""The same hostile comments in each format: impossible dates, a cycle, an id that comes twice, a text of 10 MB."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import pytest

from messaging.models import Message
from messaging.models.message import CONTENT_MAX
from tests.factories import CommunityFactory
from tests.moving.imports.importing import HOST, import_posts

pytestmark = pytest.mark.django_db
ADDRESS = "https://lantern.example/a/"
LONG = "word " * 2_000_000


class Comment(NamedTuple):
    id: int
    parent: int
    time: str
    text: str


COMMENTS = (
    Comment(1, 0, "1960-01-01T00:00:00Z", "before 1970"),
    Comment(2, 0, "2150-01-01T00:00:00Z", "after 2100"),
    Comment(3, 4, "2016-05-02T10:00:00Z", "answers the next one"),
    Comment(4, 3, "2016-05-02T10:01:00Z", "answers the one before"),
    Comment(5, 0, "2016-05-02T10:02:00Z", "good"),
    Comment(5, 0, "2016-05-02T10:03:00Z", "the same id"),
    Comment(6, 0, "2016-05-02T10:04:00Z", LONG),
    Comment(7, 5, "2016-05-02T10:05:00Z", "answer"),
)


def disqus(path: Path) -> None:
    posts = (
        f'<post dsq:id="{each.id}"><message>{each.text}</message><createdAt>{each.time}</createdAt>'
        f'<author><name>Ada</name></author><thread dsq:id="1"/><parent dsq:id="{each.parent or ""}"/></post>'
        for each in COMMENTS
    )
    thread = f'<thread dsq:id="1"><link>{ADDRESS}</link></thread>'
    path.write_text(f'<disqus xmlns:dsq="d">{thread}{"".join(posts)}</disqus>')


def wordpress(path: Path) -> None:
    comments = (
        f"<wp:comment><wp:comment_id>{each.id}</wp:comment_id><wp:comment_author>Ada</wp:comment_author>"
        f"<wp:comment_date_gmt>{each.time.replace('T', ' ').rstrip('Z')}</wp:comment_date_gmt>"
        f"<wp:comment_content>{each.text}</wp:comment_content><wp:comment_approved>1</wp:comment_approved>"
        f"<wp:comment_parent>{each.parent}</wp:comment_parent></wp:comment>"
        for each in COMMENTS
    )
    item = f"<item><link>{ADDRESS}</link>{''.join(comments)}</item>"
    path.write_text(f'<rss xmlns:wp="http://wordpress.org/export/1.2/"><channel>{item}</channel></rss>')


def remark42(path: Path) -> None:
    comments = (
        {
            "id": f"{each.id}",
            "pid": f"{each.parent or ''}",
            "text": each.text,
            "user": {"name": "Ada", "id": "ada"},
            "locator": {"url": ADDRESS},
            "time": each.time,
        }
        for each in COMMENTS
    )
    lines = ({"version": 1, "users": [], "posts": []}, *comments)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def commento(path: Path) -> None:
    comments = [
        {
            "commentHex": f"{each.id}",
            "parentHex": f"{each.parent or 'root'}",
            "domain": "lantern.example",
            "url": "/a/",
            "commenterHex": "ada",
            "markdown": each.text,
            "state": "approved",
            "creationDate": each.time,
        }
        for each in COMMENTS
    ]
    path.write_text(json.dumps({"version": 1, "comments": comments, "commenters": []}))


def isso(path: Path) -> None:
    """The ids are those of rows, so that none comes twice."""
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE threads (id INTEGER PRIMARY KEY, uri TEXT, title TEXT)")
        database.execute(
            "CREATE TABLE comments (tid, id INTEGER PRIMARY KEY, parent INTEGER, created FLOAT, modified FLOAT, "
            "mode INTEGER, text TEXT, author TEXT, email TEXT, likes INTEGER, dislikes INTEGER)"
        )
        database.execute("INSERT INTO threads VALUES (1, '/a/', '')")
        for each in COMMENTS:
            row = (each.id, each.parent or None, datetime.fromisoformat(each.time).timestamp(), each.text)
            database.execute("INSERT OR IGNORE INTO comments VALUES (1, ?, ?, ?, NULL, 1, ?, 'Ada', NULL, 0, 0)", row)
        database.commit()


def jsonl(path: Path) -> None:
    posts = (
        {
            "type": "post",
            "id": f"{each.id}",
            "parentId": f"{each.parent}" if each.parent else None,
            "pageUrl": ADDRESS,
            "author": {"id": "ada", "name": "Ada", "handle": "ada", "kind": "human"},
            "status": "published",
            "content": each.text,
            "createdAt": each.time,
        }
        for each in COMMENTS
    )
    header = {"type": "header", "format": "community-messaging", "version": 1}
    lines = (header, *posts, {"type": "end", "posts": len(COMMENTS), "reactions": 0})
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


WRITERS: dict[str, Callable[[Path], None]] = {
    writer.__name__: writer for writer in (disqus, wordpress, remark42, commento, isso, jsonl)
}


@pytest.mark.parametrize("format", WRITERS)
def test_hostile_comments_are_reported_and_the_rest_is_imported(format: str, tmp_path: Path) -> None:
    community = CommunityFactory()
    WRITERS[format](tmp_path / "export")
    maps = HOST if format == "isso" else ()
    imported = import_posts(format, tmp_path / "export", community, tmp_path / "r.csv", map=maps)
    assert imported.counts["new"] == 7
    reasons = [(row["source_id"], row["reason"]) for row in imported.report]
    assert [source for source, reason in reasons if "The date is missing, before 1990" in reason] == ["1", "2"]
    assert len([source for source, reason in reasons if "It answers itself" in reason]) == 1
    assert [source for source, reason in reasons if "was cut to 20,000" in reason] == ["6"]
    assert [source for source, reason in reasons if "the same id" in reason] == ([] if format == "isso" else ["5"])
    posts = {message.content[:10].strip(): message for message in Message.objects.filter(community=community)}
    assert posts["answer"].parent_id == posts["good"].pk
    assert len(posts["word word"].content) <= CONTENT_MAX
