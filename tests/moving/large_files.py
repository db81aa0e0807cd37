"""Writes large exports, and reads one with the memory that this takes.

python -m tests.moving.large_files write FORMAT MEGABYTES PATH
python -m tests.moving.large_files read FORMAT PATH
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.moving import writing
from tests.moving.writing import Comment

MEGABYTE = 1 << 20
WORDS = "The reading room is full every Sunday, and the night bus was cut without a vote. "
# A post in fifty has marks, which take longer to convert.
MARKED = 50
# As many as the map of the threads of Disqus does not hold in memory.
THREADS = 60_000
TEXTS = writing.TEXTS | {
    "disqus": lambda posts: writing.disqus(posts, map("https://site.example/{}/".format, range(THREADS)))
}


def comments(count: int, length: int) -> Iterator[Comment]:
    for number in range(1, count + 1):
        marks = f'<blockquote>{number}</blockquote><b>Bold</b> <a href="https://a.example/{number}">there</a>'
        html = f"<p>Comment {number}. {WORDS * (length // len(WORDS))}</p>{marks if number % MARKED == 0 else ''}"
        address = f"https://site.example/{number // 20 % THREADS}/"
        yield Comment(number, 0, html, author=f"Reader {number % 999}", address=address)


def write(format: str, path: Path, *, megabytes: float, length: int = 1000) -> None:
    """About as many megabytes, in posts of about that many characters."""
    posts = comments(int(megabytes * MEGABYTE / (length + (100 if format in writing.DATABASES else 400))), length)
    if format in writing.DATABASES:
        writing.DATABASES[format](path, posts)
        return
    with path.open("w") as file:
        file.writelines(TEXTS[format](posts))


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
