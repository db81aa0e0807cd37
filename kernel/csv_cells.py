"""Cells of CSV files, which people open in spreadsheets."""

from __future__ import annotations

from typing import TypeVar

Value = TypeVar("Value")
# A spreadsheet evaluates text that begins with one of these, the wide forms in some languages.
FORMULA_STARTS = tuple("=+-@\t\r\n＝＋－＠")


def neutral_cell(value: Value) -> Value | str:
    """Text that a spreadsheet would evaluate begins with an apostrophe, which it shows as text."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value
