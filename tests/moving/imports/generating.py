"""Writes large exports for the benchmark and for tests that stop an import."""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

HEAD = """<?xml version="1.0" encoding="utf-8"?>
<disqus xmlns="http://disqus.com" xmlns:dsq="http://disqus.com/disqus-internals">
<category dsq:id="1"><forum>big</forum><title>General</title><isDefault>true</isDefault></category>
"""
BEGIN = datetime(2012, 1, 1, tzinfo=UTC)
TEXT = """
the bridge is closed again and nobody asked the traders who open at six and carry flour over the river while the
council counts ducks on the weir 🦆 наводнение السوق 磨坊桥
"""
WORDS = TEXT.split()
# Of the posts of one thread.
AUTHORS = 1_000


def disqus(path: Path, *, posts: int, pages: int = 500, words: int = 40, seed: int = 1) -> Path:
    """An export of Disqus with this many posts; half of them answer one of the last ten of their page."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wt", encoding="utf-8") as out:
        out.write(HEAD)
        for number in range(pages):
            out.write(thread_xml(number))
        out.writelines(_posts(posts, pages, words, random.Random(seed)))
        out.write("</disqus>\n")
    return path


def one_thread(path: Path, *, levels: int) -> Path:
    """An export of Disqus in which each post answers the next one of the file: all of them wait for the last."""
    with path.open("w", encoding="utf-8") as out:
        out.write(HEAD + thread_xml(0))
        out.writelines(_level(level) for level in reversed(range(levels)))
        out.write("</disqus>\n")
    return path


def _level(level: int) -> str:
    return post_xml(level, f"Level {level}", page=0, author=level % AUTHORS, parent=level - 1 if level else None)


def thread_xml(number: int) -> str:
    return (
        f'<thread dsq:id="t{number}"><id/><forum>big</forum><category dsq:id="1"/>'
        f"<link>https://big.example/articles/{number}/</link><title>{number}</title><message/>"
        f"<createdAt>2012-01-01T00:00:00Z</createdAt><isClosed>false</isClosed><isDeleted>false</isDeleted></thread>\n"
    )


def _posts(posts: int, pages: int, words: int, dice: random.Random) -> Iterator[str]:
    recent: list[list[int]] = [[] for _ in range(pages)]
    for number in range(posts):
        page = dice.randrange(pages)
        parent = dice.choice(recent[page]) if recent[page] and dice.random() < 0.5 else None
        recent[page] = [*recent[page][-9:], number]
        author = dice.randrange(max(1, posts // 10))
        yield post_xml(number, " ".join(dice.choices(WORDS, k=words)), page, author, parent)


def post_xml(number: int, text: str, page: int, author: int, parent: int | None) -> str:
    at = (BEGIN + timedelta(seconds=number * 60)).strftime("%Y-%m-%dT%H:%M:%SZ")
    answered = "" if parent is None else f'<parent dsq:id="{parent}"/>'
    return (
        f'<post dsq:id="{number}"><id/><message><![CDATA[<p>{text}</p>]]></message><createdAt>{at}</createdAt>'
        f"<isDeleted>false</isDeleted><isSpam>false</isSpam><author><email>a{author}@big.example</email>"
        f"<name>Author {author}</name><isAnonymous>false</isAnonymous><username>a{author}</username></author>"
        f'<thread dsq:id="t{page}"/>{answered}</post>\n'
    )
