"""A file of replacements for `--map-file`: a CSV of two columns, or a report of an import with a column `url` added."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterator
from io import StringIO

from kernel.csv_cells import FORMULA_STARTS
from messaging.pages.page_ids import InvalidUrl
from moving.exceptions import InvalidMapFile, InvalidMapRow
from moving.imports.addresses import WEB, Replacement, usable

# Spreadsheets of some languages write semicolons.
DELIMITERS = ",;\t"
# What the columns are called in a report, and the second one in files of two that have names.
OLD, NEW = "address", "url"
NAMES_OF_NEW = (NEW, OLD, "new", "target")


def replacements(content: bytes) -> list[Replacement]:
    """The rows that have a new address. Raises InvalidMapFile (400), InvalidMapRow (400)."""
    is_wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return list(_replacements(content.decode("utf-16" if is_wide else "utf-8-sig")))
    except (UnicodeDecodeError, csv.Error) as failure:
        raise InvalidMapFile(field="map_file") from failure


def _replacements(text: str) -> Iterator[Replacement]:
    first = text.partition("\n")[0]
    found = {each: names for each in DELIMITERS if (names := _names(first, each))}
    if not found:
        raise InvalidMapFile(field="map_file")
    # An address or an identifier may have the other ones in it.
    delimiter = max(found, key=lambda each: _is_known(found[each][-1]))
    names = found[delimiter]
    old, new = (names.index(OLD), names.index(NEW)) if {OLD, NEW} <= set(names) else (0, 1)
    for number, row in enumerate(csv.reader(StringIO(text, newline=""), delimiter=delimiter), 1):
        cells = [_whole(cell.strip()) for cell in row]
        is_head = number == 1 and cells[new].casefold() in NAMES_OF_NEW
        if is_head or len(cells) <= max(old, new) or not (cells[old] and cells[new]):
            continue
        try:
            yield Replacement(cells[old], usable(cells[new]))
        except InvalidUrl:
            raise InvalidMapRow(row=number, new=cells[new][:100]) from None


def _names(line: str, delimiter: str) -> list[str]:
    """The cells of a first line that has two columns, or those of a report with a further one; else none."""
    names = [cell.strip().casefold() for cell in next(csv.reader([line], delimiter=delimiter), [])]
    return names if len(names) == 2 or {OLD, NEW} <= set(names) else []


def _is_known(cell: str) -> bool:
    return cell in NAMES_OF_NEW or WEB.match(cell) is not None


def _whole(cell: str) -> str:
    """Without the apostrophe that a report has before what a spreadsheet would evaluate."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(FORMULA_STARTS) else cell
