"""Finds dates for the staged posts that have none that can be."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from datetime import datetime
from itertools import groupby
from operator import itemgetter

from moving.imports.clocks import DAY, Clocks, shown_offset
from moving.imports.progress import Passes, Report
from moving.imports.staging import Staging
from moving.imports.texts import AHEAD, EARLIEST, microseconds

ONE = "SELECT local, thread_created, thread_local, source_id, address FROM post WHERE number = ?"
BY_THREAD = "SELECT address, number FROM post ORDER BY address, number"
NO_DATE = "The date is missing, before 1990 or in the future. It has {} now."
LOCAL = "the local date, with the offset {} of other dates"
LOCAL_ALONE = "the local date, as one of UTC: no other date shows the offset"
# The code says what a post has that had no date; 0 is the code of those that had one.
BY_CLOCK, BETWEEN, BESIDE, OF_THREAD, OF_PARENT, OF_IMPORT = range(1, 7)
WHOSE = {
    BETWEEN: "one between those of its neighbours in the thread",
    BESIDE: "that of its neighbour in the thread",
    OF_THREAD: "that of its thread",
    OF_PARENT: "that of the post that it answers",
    OF_IMPORT: "that of the import",
}


class Dating:
    """`times` are microseconds, by number; 0 is replaced."""

    def __init__(self, staging: Staging, times: array[int], *, now: datetime) -> None:
        self._database, self._times = staging.database, times
        self._earliest, self._latest = microseconds(EARLIEST) or 0, microseconds(now + AHEAD) or 0
        self._now = microseconds(now) or 0
        self._clocks = Clocks(self._database)
        self._codes = bytearray()

    def is_valid(self, time: int | None) -> bool:
        return time is not None and self._earliest <= time <= self._latest

    def settle(self, order: array[int], parents: array[int], *, report: Report, passes: Passes) -> None:
        """The local date, else one between the neighbours in the file, else that of the thread, else of the import.

        No reply gets a date before that of the post that it answers. `order` has parents first.
        """
        undated = array("q", (number for number in order if not self._times[number]))
        if not undated:
            return
        self._codes = bytearray(len(self._times))
        for number in undated:
            if time := self._of_local(self._one(number)[0]):
                self._times[number], self._codes[number] = time, BY_CLOCK
        for _address, rows in groupby(passes.over(self._database.execute(BY_THREAD)), key=itemgetter(0)):
            self._between_neighbours(number for _address, number in rows)
        self._after_parents(order, parents)
        for number in undated:
            local, *_dates, source_id, address = self._one(number)
            code = self._codes[number]
            whose = self._by_clock(local) if code == BY_CLOCK else WHOSE[code]
            report.changed(source_id, address, NO_DATE.format(whose), kind="date")

    def _of_local(self, local: int | None) -> int:
        """The time of a local date, or 0."""
        time = None if local is None else local - (self._clocks.ahead_at(local // DAY) or 0)
        return time if time is not None and self.is_valid(time) else 0

    def _by_clock(self, local: int | None) -> str:
        ahead = self._clocks.ahead_at((local or 0) // DAY)
        return LOCAL_ALONE if ahead is None else LOCAL.format(shown_offset(ahead))

    def _between_neighbours(self, thread: Iterable[int]) -> None:
        """The numbers of posts grow in the order of the file; those of the same date are listed in this order."""
        run, before = array("q"), 0
        for number in thread:
            if time := self._times[number]:
                self._fill(run, before, time)
                run, before = array("q"), time
            else:
                run.append(number)
        self._fill(run, before, 0)

    def _fill(self, run: array[int], before: int, after: int) -> None:
        if not run:
            return
        code = BETWEEN if before and after else BESIDE
        if not before and not after:
            before, code = self._of_thread(run[0])
        first, last = before or after, after or before
        for place, number in enumerate(run, 1):
            self._times[number] = first + (last - first) * place // (len(run) + 1)
            self._codes[number] = code

    def _of_thread(self, number: int) -> tuple[int, int]:
        _local, created, local, *_rest = self._one(number)
        time = created if created is not None and self.is_valid(created) else self._of_local(local)
        return (time, OF_THREAD) if time else (self._now, OF_IMPORT)

    def _after_parents(self, order: array[int], parents: array[int]) -> None:
        for number in reversed(order):
            parent = parents[number]
            if parent > 0 and self._codes[parent] > BY_CLOCK and self._times[parent] > self._times[number]:
                self._times[parent] = self._times[number]
        for number in order:
            parent = parents[number]
            if parent > 0 and self._codes[number] and self._times[parent] > self._times[number]:
                self._times[number], self._codes[number] = self._times[parent], OF_PARENT

    def _one(self, number: int) -> tuple[int | None, int | None, int | None, str, str]:
        row: tuple[int | None, int | None, int | None, str, str]
        row = self._database.execute(ONE, [number]).fetchone()
        return row
