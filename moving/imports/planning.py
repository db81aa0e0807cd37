"""Decides the order, the dates and the tombstones of the staged posts.

The posts are numbers in arrays, some 20 bytes each, and no function recurses: a thread may be a million replies deep.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from moving.imports.dating import Dating
from moving.imports.progress import Passes, Report, Tell
from moving.imports.staging import Staging

NONE, MISSING = -1, -2
LOOKED_UP = 1_000
# The rows are read three times. Where dates are missing, their threads are too, which counts as one of these.
PASSES = 3
# Numbers of staged posts count from 1.
ROWS = """
SELECT post.number, post.parent_id, parent.number, post.page = parent.page, post.state, post.created,
    left_out.source_id IS NOT NULL, post.source_id, post.address
FROM post LEFT JOIN post parent ON parent.source_id = post.parent_id
LEFT JOIN left_out ON left_out.source_id = post.parent_id ORDER BY post.number
"""
ONE = "SELECT source_id, address FROM post WHERE number = ?"
# (source ids) -> those of posts that earlier imports have written.
Known = Callable[[Collection[str]], Collection[str]]


@dataclass(frozen=True, slots=True)
class Plan:
    """`order`: the numbers of the posts to write, parents before replies. `times`: microseconds, by number."""

    order: array[int]
    times: array[int]


def absence(staging: Staging, *, is_left_out: bool) -> str:
    if is_left_out:
        return "left out"
    return "in no part of the file that could be read" if staging.has_damage else "not in the file"


class Planner:
    def __init__(self, staging: Staging, *, report: Report, known: Known, now: datetime, tell: Tell) -> None:
        self._staging, self._report, self._known = staging, report, known
        self._passes = Passes("ordering", tell=tell, posts=staging.count(), passes=PASSES)
        self._parents, self._times = array("q", [NONE]), array("q", [0])
        self._dating = Dating(staging, self._times, now=now)
        self._deleted = bytearray([0])

    def plan(self) -> Plan:
        self._read()
        self._look_up_missing_parents()
        order = self._parents_first()
        self._dating.settle(order, self._parents, report=self._report, passes=self._passes)
        is_written = self._to_write(order)
        return Plan(array("q", (number for number in order if is_written[number])), self._times)

    def _read(self) -> None:
        for _number, parent_id, parent, same_page, state, created, *_rest in self._rows():
            self._parents.append(parent if parent and same_page else MISSING if parent_id else NONE)
            self._times.append(created if self._dating.is_valid(created) else 0)
            self._deleted.append(state == "deleted")

    def _rows(self) -> Iterator[Any]:
        yield from self._passes.over(self._staging.database.execute(ROWS))

    def _look_up_missing_parents(self) -> None:
        """A parent that is not in the file may have come with an earlier import."""
        rows = (row for row in self._rows() if self._parents[row[0]] == MISSING)
        while some := list(islice(rows, LOOKED_UP)):
            known = self._known([row[1] for row in some if row[2] is None])
            for number, parent_id, parent, *_rest, is_left_out, source_id, address in some:
                if parent_id not in known:
                    where = "on another page" if parent else absence(self._staging, is_left_out=is_left_out)
                    self._top_level(number, source_id, address, f"The post that it answers is {where}.")

    def _top_level(self, number: int, source_id: str, address: str, why: str) -> None:
        self._parents[number] = NONE
        self._report.changed(source_id, address, f"{why} It is a post of its own now.", kind="parent")

    def _parents_first(self) -> array[int]:
        """The order of the file where that is possible. A post that is among those that it answers is cut off."""
        order, has_cycle = self._walk()
        return order if not has_cycle else self._walk()[0]

    def _walk(self) -> tuple[array[int], bool]:
        """(the order, whether a cycle was cut: then the order is not right yet)."""
        order, has_cycle = array("q"), False
        states, waiting, placed = bytearray(len(self._parents)), 1, 2
        for first in range(1, len(self._parents)):
            chain, number = [], first
            while number > 0 and not states[number]:
                states[number] = waiting
                chain.append(number)
                number = self._parents[number]
            if number > 0 and states[number] == waiting:
                self._cut_cycle(number)
                has_cycle = True
            for each in reversed(chain):
                states[each] = placed
                order.append(each)
        return order, has_cycle

    def _cut_cycle(self, number: int) -> None:
        source_id, address = self._staging.database.execute(ONE, [number]).fetchone()
        self._top_level(number, source_id, address, "It answers itself, over other posts or directly.")

    def _to_write(self, order: array[int]) -> bytearray:
        """A deleted post is a tombstone where one that is not deleted answers it, directly or not."""
        is_written = bytearray(len(self._parents))
        for number in reversed(order):
            if not self._deleted[number]:
                is_written[number] = 1
            parent = self._parents[number]
            if is_written[number] and parent > 0:
                is_written[parent] = 1
        for number, *_rest, source_id, address in self._rows():
            if not is_written[number]:
                self._report.skipped(source_id, address, "It is deleted, and no post answers it.", kind="deleted")
        return is_written
