"""Values of our own exports that are not those of createMessage are refused, each field on its own."""

from __future__ import annotations

import csv
from io import StringIO
from typing import Any
from uuid import RFC_4122

import orjson
import pytest

from kernel.api.exceptions.base import MESSAGE_MAX
from moving.imports import texts
from moving.imports.extras import NAMES, checked
from moving.imports.progress import CELL_MAX, FULL, Report, cell
from moving.imports.usable_reactions import usable

NOTE = {"tagType": "note"}


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("value", [1e308, 1e16, 5e-324, 2**63, nested(31), nested(60)], ids=str)
def test_a_number_or_a_depth_that_the_api_refuses_is_refused(value: Any) -> None:
    columns, refused = checked(NOTE | {"payload": {"n": value}, "contextAnchor": {"n": value}})
    assert set(refused) == {"payload", "contextAnchor"}
    assert columns == {"tag_type": "note"}


@pytest.mark.parametrize("value", [9e15, 1e-5, -(2**63), 2**63 - 1, nested(30)], ids=str)
def test_a_value_that_the_api_takes_is_taken(value: Any) -> None:
    read = orjson.loads(orjson.dumps({"n": value}))
    columns, refused = checked(NOTE | {"payload": read, "contextAnchor": read})
    assert (columns["payload"], columns["context_anchor"], refused) == (read, read, {})


@pytest.mark.parametrize(
    ("extra", "name", "reason"),
    [
        ({"language": "x" * 9_000}, "language", "Shorten language to at most 16 characters"),
        ({"anchorText": 7}, "anchorText", "Send a text"),
        ({"attachments": [{"type": "x", "url": "nope"}]}, "attachments", "Not an http or https URL"),
        (NOTE | {"payload": {"text": "x" * 70_000}}, "payload", "at most 65,536 bytes"),
        (NOTE | {"payload": {"n": 1e308}}, "payload", "a number is an integer of 64 bits"),
        ({"tagType": "x" * 9_000}, "tagType", "one of `allowed`"),
        ({"tagType": "claim", "payload": {"x" * 9_000: 1}}, "payload", "/payload: Additional properties"),
    ],
)
def test_a_refused_field_is_named_with_a_short_reason(extra: dict[str, Any], name: str, reason: str) -> None:
    _columns, refused = checked(extra)
    assert reason in refused[name]
    assert len(refused[name]) <= MESSAGE_MAX


def test_reactions_that_the_api_would_refuse_are_left_out() -> None:
    good = {"emoji": "👍", "createdAt": "2026-11-01T08:15:30Z", "author": {"id": "ada", "name": "Ada"}}
    bad = [{"emoji": "x"}, {"createdAt": None}, {"createdAt": "1980-01-01T00:00:00Z"}, {"author": 5}]
    found = usable([good, *(good | each for each in bad), None], set())
    assert [(each.emoji, each.author.source_id) for each in found] == [("👍", "ada")]


def test_all_fields_at_once_fit_a_cell_of_the_report() -> None:
    _columns, refused = checked({name: ["x" * 9_000] for name in NAMES})
    assert set(refused) == set(NAMES)
    assert sum(len(f"{name} ({why}); ") for name, why in refused.items()) < CELL_MAX


@pytest.mark.parametrize("text", ["=1", " =1", "\n+1", "＝1", "－1"])
def test_a_cell_of_a_report_is_one_line_and_no_formula(text: str) -> None:
    assert cell(text) == f"'{text.strip()}"


def test_a_report_is_bounded_and_counts_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moving.imports.progress.CHARACTERS_MAX", 20_000)
    out = StringIO()
    report = Report(out)
    for number in range(1_000):
        report.skipped(str(number), "https://site.example/" + "x" * 9_000, "y" * 9_000, kind="address")
    rows = list(csv.reader(StringIO(out.getvalue())))
    assert rows[-1] == ["", "", "", FULL]
    assert len(out.getvalue()) < 25_000
    assert max(len(value) for row in rows for value in row) <= CELL_MAX
    assert (report.counts["skipped"], report.reasons["skipped", "address"]) == (1_000, 1_000)


def test_ids_of_imported_posts_have_their_millisecond_and_the_order_of_the_file() -> None:
    time = 1_700_000_000_123_457
    ids = [texts.id_at(time, number) for number in (0, 1, 1 << 20, (1 << 20) + 1, (1 << 32) - 1)]
    assert {(each.version, each.variant, each.int >> 80) for each in ids} == {(7, RFC_4122, time // 1000)}
    assert sorted(ids) == ids
