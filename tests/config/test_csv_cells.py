"""Text in a cell of a CSV file is not a formula; it differs by an apostrophe at most."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kernel.csv_cells import neutral_cell


def test_text_that_a_spreadsheet_would_evaluate_begins_with_an_apostrophe() -> None:
    for start in "=+-@\t\r\n＝＋－＠":
        assert neutral_cell(f"{start}1") == f"'{start}1"


@given(st.text(max_size=5))
def test_other_text_is_unchanged(text: str) -> None:
    assert neutral_cell(f"a{text}") == f"a{text}"


@given(st.integers() | st.floats() | st.none() | st.dates())
def test_numbers_and_times_are_unchanged(value: object) -> None:
    assert neutral_cell(value) is value
