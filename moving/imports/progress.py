"""Tells how far an import is: rate and remaining time.

What a transaction of an import does first: it waits for its source, and looks whether it may write.

The report of an import: what was skipped or changed, and why, as CSV.
"""

from __future__ import annotations

import csv
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TextIO, TypeVar

from kernel.csv_cells import neutral_cell
from kernel.database.sql import allow_long_statements, execute, fetch_one
from messaging.posts.rights import LONG_STATEMENT_SECONDS
from moving.exceptions import ImportBusy, ImportUndone
from moving.models import UNDO_STATES, WRITABLE, Move

# A batch of another process may take longer than requests wait for a lock.
WAIT_LONGER = "SELECT set_config('lock_timeout', '60s', true)"
# One writer of a source at a time; the unique indexes decide all the same.
LOCK_SOURCE = "SELECT pg_advisory_xact_lock(hashtextextended('moving ' || %s::text || ' ' || %s::text, 0))"
STATUS = "SELECT status FROM moving_move WHERE id = %s FOR SHARE"


def lock_source(move: Move) -> None:
    allow_long_statements(LONG_STATEMENT_SECONDS)
    execute(WAIT_LONGER)
    execute(LOCK_SOURCE, [str(move.community_id), move.format])


def require_writable(move: Move) -> None:
    """Raises ImportUndone, ImportBusy (409)."""
    row = fetch_one(STATUS, [move.pk])
    if row is None or row[0] in UNDO_STATES:
        raise ImportUndone
    if row[0] not in WRITABLE:
        raise ImportBusy(status=row[0])


COLUMNS = ("source_id", "address", "action", "reason")
SKIPPED, CHANGED = "skipped", "changed"
CELL_MAX = 2_000
# Of the cells together, about 500,000 rows: many small rows of a file would become many times as large.
CHARACTERS_MAX = 64 << 20
FULL = "The report is full. What follows is counted only."


class Report:
    def __init__(self, out: TextIO) -> None:
        self.counts: Counter[str] = Counter()
        self.reasons: Counter[tuple[str, str]] = Counter()
        self._left = CHARACTERS_MAX
        self._writer = csv.writer(out)
        self._writer.writerow(COLUMNS)

    def skipped(self, source_id: str, address: str, reason: str, *, kind: str = "") -> None:
        """`kind`: the reason without particulars, by which the page of an import adds up the rows."""
        self._add(source_id, address, SKIPPED, reason, kind)

    def changed(self, source_id: str, address: str, reason: str, *, kind: str = "") -> None:
        self._add(source_id, address, CHANGED, reason, kind)

    def add_up(self, address: str, reason: str) -> None:
        """A row about several posts, each of which has been counted, and has a row of its own unless it is full."""
        self._writer.writerow(["", cell(address), SKIPPED, cell(reason)])

    def _add(self, source_id: str, address: str, action: str, reason: str, kind: str) -> None:
        self.counts[action] += 1
        self.reasons[action, kind or "damaged"] += 1
        if self._left > 0:
            row = [cell(source_id), cell(address), action, cell(reason)]
            self._left -= sum(map(len, row))
            self._writer.writerow(row if self._left > 0 else ["", "", "", FULL])


def cell(text: str) -> str:
    """One line that no spreadsheet takes for a formula, of any storable length."""
    line = " ".join(text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode().split())[:CELL_MAX]
    return neutral_cell(line)


T = TypeVar("T")
EVERY_SECONDS = 2.0
EVERY_POSTS = 1_000
MEGABYTE = 1_000_000


class Step(NamedTuple):
    """`done` of `total` bytes (reading), reactions (reacting) or posts (all others)."""

    name: str
    done: int
    total: int


Tell = Callable[[Step], None]


def silent(step: Step) -> None:
    """Tells nothing."""


class Passes:
    """Tells of one step that looks at all posts several times: each time counts as a part of each post."""

    def __init__(self, name: str, *, tell: Tell, posts: int, passes: int) -> None:
        self._name, self._tell, self._posts, self._passes = name, tell, posts, passes
        self._before = 0

    def over(self, posts: Iterable[T]) -> Iterator[T]:
        """The same posts; one pass."""
        for number, post in enumerate(posts):
            if number % EVERY_POSTS == 0:
                self._tell_of(number)
            yield post
        self._before += self._posts
        self._tell_of(0)

    def _tell_of(self, number: int) -> None:
        done = min(self._before + number, self._posts * self._passes) // self._passes
        self._tell(Step(self._name, done, self._posts))


class ProgressLines:
    """Prints a line every two seconds, and one at the end of each step."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._last, self._began, self._told = Step("", 0, 0), 0.0, 0.0

    def __call__(self, step: Step) -> None:
        now = time.monotonic()
        if step.name != self._last.name:
            self._began, self._told = now, now
        has_ended = step.done >= step.total and step != self._last
        self._last = step
        if has_ended or now >= self._told + EVERY_SECONDS:
            self._told = now
            self._write(_line(step, now - self._began))


def _line(step: Step, seconds: float) -> str:
    rate = step.done / seconds if seconds > 0 else 0.0
    remaining = _duration((step.total - step.done) / rate) if rate else "unknown"
    if step.name == "reading":
        amounts = f"{step.done / MEGABYTE:,.1f} of {step.total / MEGABYTE:,.1f} MB, {rate / MEGABYTE:,.1f} MB/s"
    else:
        unit = "reactions" if step.name == "reacting" else "posts"
        amounts = f"{step.done:,} of {step.total:,} {unit}, {rate:,.0f}/s"
    return f"{step.name}: {amounts}, {remaining} left"


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes}:{seconds:02}"
