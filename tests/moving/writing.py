"""Writes comments as exports of the other systems and of our own."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

ADDRESS, OTHER = "https://lantern.example/a/", "https://lantern.example/b/"
TIME = "2016-05-02T10:00:00Z"


class Comment(NamedTuple):
    """A published comment; `parent` is 0 if it answers none."""

    id: int
    parent: int
    text: str
    time: str = TIME
    author: str = "Ada"
    address: str = ADDRESS
    email: str = ""


Comments = Iterable[Comment]


def milliseconds(time: str) -> int | None:
    return round(datetime.fromisoformat(time).timestamp() * 1000) if time else None


def disqus(comments: Comments, addresses: Iterable[str] = (ADDRESS, OTHER)) -> Iterator[str]:
    """All threads come first: `addresses` are those of the comments, and may be more."""
    yield '<?xml version="1.0"?><disqus xmlns="http://disqus.com" xmlns:dsq="http://disqus.com/disqus-internals">\n'
    for address in addresses:
        yield (
            f'<thread dsq:id="{address}"><link>{address}</link><createdAt>{TIME}</createdAt>'
            "<isDeleted>false</isDeleted></thread>\n"
        )
    for each in comments:
        yield (
            f'<post dsq:id="{each.id}"><message><![CDATA[{each.text}]]></message><createdAt>{each.time}</createdAt>'
            f"<isDeleted>false</isDeleted><isSpam>false</isSpam><author><name>{each.author}</name>"
            f'<email>{each.email}</email><isAnonymous>false</isAnonymous></author><thread dsq:id="{each.address}"/>'
            f'<parent dsq:id="{each.parent or ""}"/></post>\n'
        )
    yield "</disqus>"


def wordpress(comments: Comments, home: str = "") -> Iterator[str]:
    """`home` is the address of the blog."""
    yield '<rss version="2.0" xmlns:wp="http://wordpress.org/export/1.2/"><channel>\n'
    yield f"<wp:base_blog_url>{home}</wp:base_blog_url>" if home else ""
    for address, of_address in groupby(comments, lambda each: each.address):
        yield f"<item><link>{address}</link>"
        for each in of_address:
            yield (
                f"<wp:comment><wp:comment_id>{each.id}</wp:comment_id>"
                f"<wp:comment_author>{each.author}</wp:comment_author>"
                f"<wp:comment_author_email>{each.email}</wp:comment_author_email>"
                f"<wp:comment_date_gmt>{each.time.replace('T', ' ').rstrip('Z')}</wp:comment_date_gmt>"
                f"<wp:comment_content><![CDATA[{each.text}]]></wp:comment_content>"
                f"<wp:comment_approved>1</wp:comment_approved><wp:comment_parent>{each.parent}</wp:comment_parent>"
                f"<wp:comment_user_id>{0 if each.email else 1}</wp:comment_user_id></wp:comment>\n"
            )
        yield "</item>"
    yield "</channel></rss>"


def remark42(comments: Comments) -> Iterator[str]:
    yield '{"version":1,"users":[],"posts":[]}\n'
    for each in comments:
        comment = {
            "id": f"{each.id}",
            "pid": f"{each.parent or ''}",
            "text": each.text,
            "user": {"name": each.author, "id": each.author},
            "locator": {"site": "site", "url": each.address},
            "time": each.time,
        }
        yield json.dumps(comment) + "\n"


def commento(comments: Comments) -> Iterator[str]:
    yield '{"version":1,"comments":['
    authors: set[str] = set()
    for number, each in enumerate(comments):
        authors.add(each.author)
        comment = {
            "commentHex": f"{each.id}",
            "parentHex": f"{each.parent or 'root'}",
            "domain": urlsplit(each.address).netloc,
            "url": urlsplit(each.address).path,
            "commenterHex": each.author,
            "html": each.text,
            "state": "approved",
            "creationDate": each.time,
        }
        yield ("," if number else "") + json.dumps(comment)
    commenters = ({"commenterHex": author, "name": author, "email": ""} for author in sorted(authors))
    yield '],"commenters":[' + ",".join(map(json.dumps, commenters)) + "]}"


def comentario(comments: Comments) -> Iterator[str]:
    yield '{"version":3,"comments":['
    for number, each in enumerate(comments):
        comment = {
            "id": f"{each.id}",
            "parentId": f"{each.parent or ''}",
            "url": f"{each.address}#comentario-{each.id}",
            "authorName": each.author,
            "html": each.text,
            "isApproved": True,
            "createdTime": each.time,
        }
        yield ("," if number else "") + json.dumps(comment)
    yield "]}"


def waline(comments: Comments) -> Iterator[str]:
    yield '{"type":"waline","version":1,"data":{"Comment":['
    for number, each in enumerate(comments):
        comment = {
            "objectId": f"{each.id}",
            "pid": f"{each.parent}" if each.parent else None,
            "url": urlsplit(each.address).path,
            "nick": each.author,
            "comment": each.text,
            "status": "approved",
            "insertedAt": each.time,
        }
        yield ("," if number else "") + json.dumps(comment)
    yield "]}}"


def twikoo(comments: Comments) -> Iterator[str]:
    for number, each in enumerate(comments):
        comment = {
            "_id": f"{each.id}",
            "pid": f"{each.parent or ''}",
            "url": urlsplit(each.address).path,
            "href": each.address,
            "nick": each.author,
            "comment": each.text,
            "created": milliseconds(each.time),
        }
        yield ("," if number else "[") + json.dumps(comment)
    yield "]"


def artalk(comments: Comments) -> Iterator[str]:
    for number, each in enumerate(comments):
        comment = {
            "id": f"{each.id}",
            "rid": f"{each.parent}",
            "page_key": each.address,
            "nick": each.author,
            "content": each.text,
            "created_at": f"{each.time[:10]} {each.time[11:19]} +0000 UTC",
        }
        yield ("," if number else "[") + json.dumps(comment)
    yield "]"


def jsonl(comments: Comments) -> Iterator[str]:
    yield json.dumps({"type": "header", "format": "community-messaging", "version": 1}) + "\n"
    count = 0
    for count, each in enumerate(comments, 1):  # noqa: B007
        post = {
            "type": "post",
            "id": f"{each.id}",
            "parentId": f"{each.parent}" if each.parent else None,
            "pageUrl": each.address,
            "author": {"id": each.author, "name": each.author, "handle": each.author.lower(), "kind": "human"},
            "status": "published",
            "content": each.text,
            "createdAt": each.time,
        }
        yield json.dumps(post) + "\n"
    yield json.dumps({"type": "end", "posts": count, "reactions": 0}) + "\n"


TEXTS: dict[str, Callable[[Comments], Iterator[str]]] = {
    writer.__name__: writer
    for writer in (disqus, wordpress, remark42, commento, comentario, waline, twikoo, artalk, jsonl)
}
# Those that name pages by their paths.
PATHS = ("isso", "waline")


def write(format: str, path: Path, comments: Comments) -> Path:
    if format in DATABASES:
        return DATABASES[format](path, comments)
    with path.open("w") as file:
        file.writelines(TEXTS[format](comments))
    return path


def write_isso(path: Path, comments: Comments) -> Path:
    """A database; of comments with the same id the first one."""
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE threads (id INTEGER PRIMARY KEY, uri VARCHAR(256) UNIQUE, title VARCHAR(256))")
        database.execute(
            "CREATE TABLE comments (tid REFERENCES threads(id), id INTEGER PRIMARY KEY, parent INTEGER, created FLOAT, "
            "modified FLOAT, mode INTEGER, text VARCHAR, author VARCHAR, email VARCHAR, likes INTEGER, dislikes INT)"
        )
        threads: dict[str, int] = {}
        for each in comments:
            uri = urlsplit(each.address).path
            if uri not in threads:
                threads[uri] = len(threads) + 1
                database.execute("INSERT INTO threads VALUES (?, ?, '')", (threads[uri], uri))
            created = datetime.fromisoformat(each.time).timestamp() if each.time else None
            row = (threads[uri], each.id, each.parent or None, created, each.text, each.author, each.email)
            database.execute("INSERT OR IGNORE INTO comments VALUES (?, ?, ?, ?, NULL, 1, ?, ?, ?, 2, 1)", row)
        database.commit()
    return path


def write_cusdis(path: Path, comments: Comments) -> Path:
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE projects (id TEXT PRIMARY KEY)")
        database.execute("CREATE TABLE pages (id TEXT PRIMARY KEY, slug TEXT, url TEXT, projectId TEXT)")
        database.execute(
            "CREATE TABLE comments (id TEXT PRIMARY KEY, pageId TEXT, parentId TEXT, created_at DATETIME, "
            "deletedAt DATETIME, approved BOOLEAN, moderatorId TEXT, by_email TEXT, by_nickname TEXT, content TEXT)"
        )
        for each in comments:
            database.execute("INSERT OR IGNORE INTO pages VALUES (?, '', ?, '')", (each.address, each.address))
            created = milliseconds(each.time)
            row = (f"{each.id}", each.address, f"{each.parent or ''}", created, each.author, each.text)
            database.execute("INSERT OR IGNORE INTO comments VALUES (?, ?, ?, ?, NULL, 1, NULL, NULL, ?, ?)", row)
        database.commit()
    return path


DATABASES: dict[str, Callable[[Path, Comments], Path]] = {"isso": write_isso, "cusdis": write_cusdis}
FORMATS = (*TEXTS, *DATABASES)
