"""Writes large exports, and reads one with the memory that this takes.

python -m tests.moving.large_files write FORMAT MEGABYTES PATH
python -m tests.moving.large_files read FORMAT PATH
"""

from __future__ import annotations

import json
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

MEGABYTE = 1 << 20
WORDS = "The reading room is full every Sunday, and the night bus was cut without a vote. "
# A post in fifty has marks, which take longer to convert.
MARKED = 50
TIME = "2016-05-02T10:00:00Z"


def text_of(number: int, length: int) -> str:
    return f"Comment {number}. " + WORDS * (length // len(WORDS))


def html_of(number: int, length: int) -> str:
    marks = f'<blockquote>{number}</blockquote><b>Bold</b> <a href="https://a.example/{number}">there</a>'
    return f"<p>{text_of(number, length)}</p>" + (marks if number % MARKED == 0 else "")


def address_of(number: int) -> str:
    return f"https://site.example/{number // 20}/"


def disqus(count: int, length: int) -> Iterator[str]:
    """All threads come first: as many as the map of threads does not hold in memory."""
    yield '<?xml version="1.0"?><disqus xmlns="http://disqus.com" xmlns:dsq="http://disqus.com/disqus-internals">\n'
    threads = 60_000
    for number in range(threads):
        yield (
            f'<thread dsq:id="t{number}"><link>{address_of(20 * number)}</link><createdAt>{TIME}</createdAt>'
            "<isDeleted>false</isDeleted></thread>\n"
        )
    for number in range(count):
        yield (
            f'<post dsq:id="{number}"><message><![CDATA[{html_of(number, length)}]]></message><createdAt>{TIME}'
            f"</createdAt><isDeleted>false</isDeleted><isSpam>false</isSpam><author><name>Reader {number % 999}</name>"
            f'<isAnonymous>false</isAnonymous></author><thread dsq:id="t{number // 20 % threads}"/></post>\n'
        )
    yield "</disqus>"


def wordpress(count: int, length: int) -> Iterator[str]:
    yield '<rss version="2.0" xmlns:wp="http://wordpress.org/export/1.2/"><channel>\n'
    for number in range(count):
        if number % 20 == 0:
            yield f"{'</item>' if number else ''}<item><link>{address_of(number)}</link>"
        yield (
            f"<wp:comment><wp:comment_id>{number + 1}</wp:comment_id><wp:comment_author>Reader {number % 999}"
            "</wp:comment_author><wp:comment_date_gmt>2016-05-02 10:00:00</wp:comment_date_gmt><wp:comment_content>"
            f"<![CDATA[{html_of(number, length)}]]></wp:comment_content><wp:comment_approved>1</wp:comment_approved>"
            "</wp:comment>\n"
        )
    yield "</item></channel></rss>"


def remark42(count: int, length: int) -> Iterator[str]:
    yield '{"version":1,"users":[],"posts":[]}\n'
    for number in range(count):
        comment = {
            "id": f"id{number}",
            "pid": "",
            "text": html_of(number, length),
            "user": {"name": f"Reader {number % 999}", "id": f"github_{number % 999}"},
            "locator": {"site": "site", "url": address_of(number)},
            "score": 0,
            "time": TIME,
        }
        yield json.dumps(comment) + "\n"


def commento(count: int, length: int) -> Iterator[str]:
    yield '{"version":1,"comments":['
    for number in range(count):
        comment = {
            "commentHex": f"c{number}",
            "domain": "site.example",
            "url": f"/{number // 20}/",
            "commenterHex": f"p{number % 999}",
            "html": html_of(number, length),
            "parentHex": "root",
            "score": 1,
            "state": "approved",
            "creationDate": TIME,
            "deleted": False,
        }
        yield ("," if number else "") + json.dumps(comment)
    commenters = ({"commenterHex": f"p{number}", "name": f"Reader {number}", "email": ""} for number in range(999))
    yield '],"commenters":[' + ",".join(map(json.dumps, commenters)) + "]}"


def write_text(format: str, path: Path, *, megabytes: float, length: int) -> None:
    """About as many megabytes, in posts of about that many characters."""
    with path.open("w") as file:
        for part in TEXTS[format](int(megabytes * MEGABYTE / (length + 400)), length):
            file.write(part)


def write_isso(path: Path, *, megabytes: float, length: int) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE threads (id INTEGER PRIMARY KEY, uri VARCHAR(256) UNIQUE, title VARCHAR(256))")
        database.execute(
            "CREATE TABLE comments (tid REFERENCES threads(id), id INTEGER PRIMARY KEY, parent INTEGER, created FLOAT, "
            "modified FLOAT, mode INTEGER, text VARCHAR, author VARCHAR, email VARCHAR, likes INTEGER, dislikes INT)"
        )
        count = int(megabytes * MEGABYTE / (length + 100))
        threads = ((number, f"/{number}/", "") for number in range(1, count // 20 + 2))
        database.executemany("INSERT INTO threads VALUES (?, ?, ?)", threads)
        comments = (
            (number // 20 + 1, number, None, 1.5e9, None, 1, text_of(number, length), "Reader", None, 2, 1)
            for number in range(1, count + 1)
        )
        database.executemany("INSERT INTO comments VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", comments)
        database.commit()


TEXTS: dict[str, Callable[[int, int], Iterator[str]]] = {
    "disqus": disqus,
    "wordpress": wordpress,
    "remark42": remark42,
    "commento": commento,
}


def write(format: str, path: Path, *, megabytes: float, length: int = 1000) -> None:
    if format == "isso":
        write_isso(path, megabytes=megabytes, length=length)
    else:
        write_text(format, path, megabytes=megabytes, length=length)


def peak_megabytes() -> float:
    """The largest resident size of this process. Linux counts that of `getrusage` from before its program began."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def measure(format: str, path: Path) -> dict[str, float]:
    """The numbers of records, the seconds, and the megabytes at the peak beyond those of the modules."""
    from moving import formats

    sample = Path(__file__).with_name("samples") / "hostile" / "markup.xml"
    sum(1 for _record in formats.read("wordpress", sample))
    before, began = peak_megabytes(), time.monotonic()
    kinds = [0, 0]
    for record in formats.read(format, path):
        kinds[isinstance(record, formats.Post)] += 1
    seconds = time.monotonic() - began
    return {"unusable": kinds[0], "posts": kinds[1], "seconds": seconds, "peak": peak_megabytes(), "before": before}


def main(action: str, format: str, *rest: str) -> None:
    if action == "write":
        write(format, Path(rest[1]), megabytes=float(rest[0]))
    else:
        print(json.dumps(measure(format, Path(rest[0]))))  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
