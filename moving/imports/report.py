"""The report of an import: what was skipped or changed, and why, as CSV."""

from __future__ import annotations

import csv
from collections import Counter
from typing import TextIO

from kernel.csv_cells import neutral_cell

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
