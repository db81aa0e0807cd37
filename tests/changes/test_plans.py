"""The plans of the statements that read the log: by an index, and no more rows than the call may read.

The plans are generic, as in production (`plan_cache_mode`), and are run at the beginning, in the middle and at the end
of a log with thousands of rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from kernel.changes import reading, unread
from kernel.changes import unread as pending
from kernel.changes.channels import Channel, Selection, WholeLog
from kernel.changes.log import NewChange, append
from kernel.changes.models import Change, ReadPosition
from kernel.changes.reading import horizon
from kernel.changes.rows import START, Position
from kernel.database.sql import execute

ACCOUNT, COMMUNITY = UUID(int=1), UUID(int=2)
ROWS, LIMIT, SCAN = 3_000, 20, 100
# A statement also reads the newest row of the log.
NEWEST = 1
CHANNELS: dict[str, Selection] = {
    "whole log": WholeLog(),
    "public": Channel(),
    "page": Channel(page_id="p7"),
    "community": Channel(community_id=COMMUNITY),
    "inbox": Channel(account_id=ACCOUNT),
    "a rare type": Channel(types=frozenset({"reaction.added"})),
    "a rare type of an inbox": Channel(account_id=ACCOUNT, types=frozenset({"mention"})),
}

pytestmark = pytest.mark.django_db


@pytest.fixture
def positions() -> dict[str, Position]:
    """Positions in a log with thousands of rows."""
    append([new_change(number) for number in range(ROWS)])
    execute("ANALYZE changes_change")
    rows = Change.objects.order_by("xid", "id").values_list("xid", "id")
    return {"beginning": START, "middle": Position(*rows[ROWS // 2]), "end": Position(*rows[ROWS - 1])}


def new_change(number: int) -> NewChange:
    if number % 3 == 0:
        return NewChange(type="reply", account_id=ACCOUNT)
    return NewChange(type="message.created", page_id=f"p{number % 50}", community_id=COMMUNITY)


def rows_read(statement: str, values: Mapping[str, Any]) -> int:
    """Run a statement by its generic plan, and count the rows of the log that it reads; each by an index."""
    numbered = statement % {name: f"${number}" for number, name in enumerate(values, 1)}
    with connection.cursor() as cursor:
        cursor.execute("SHOW plan_cache_mode")
        assert cursor.fetchone() == ("force_generic_plan",)
        cursor.execute(f"PREPARE explained AS {numbered}")
        arguments = ", ".join(["%s"] * len(values))
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT json) EXECUTE explained ({arguments})", list(values.values()))
        ((plans,),) = cursor.fetchall()
        cursor.execute("DEALLOCATE explained")
    (plan,) = json.loads(plans) if isinstance(plans, str) else plans
    scans = [node for node in nodes(plan["Plan"]) if node.get("Relation Name") == "changes_change"]
    assert all(node["Node Type"] in ("Index Scan", "Index Only Scan") for node in scans), scans
    return sum(round(rows_of(node) * node["Actual Loops"]) for node in scans)


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", []):
        yield from nodes(part)


def rows_of(node: dict[str, Any]) -> float:
    removed = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
    return float(node["Actual Rows"] + removed)


@pytest.mark.parametrize("channel", CHANNELS.values(), ids=CHANNELS)
def test_a_call_reads_no_more_rows_than_its_limit(channel: Selection, positions: dict[str, Position]) -> None:
    statement = reading._statement(channel, scan=SCAN, count=LIMIT + 1)
    for position in positions.values():
        cursor = {"generation": 0, "xid": position.xid, "id": position.id, "horizon": horizon()}
        assert rows_read(statement, {**cursor, **channel.values}) <= SCAN + NEWEST


def test_the_cursor_of_now_reads_one_row(positions: dict[str, Position]) -> None:
    assert rows_read(reading.NOW, {"horizon": horizon()}) == NEWEST


def test_whether_rows_follow_reads_one_row(positions: dict[str, Position]) -> None:
    for position in positions.values():
        assert rows_read(reading.IS_FOLLOWED, position._asdict()) == 1


def test_the_unread_events_are_counted_up_to_their_limit(
    positions: dict[str, Position], monkeypatch: pytest.MonkeyPatch
) -> None:
    statement = unread.COUNT.replace(f"LIMIT {unread.UNREAD_MAX}", "LIMIT 50")
    assert rows_read(statement, {"account": ACCOUNT}) == 50, "without a position"
    for name, expected in {"beginning": 50, "middle": 50, "end": 0}.items():
        xid, row_id = positions[name]
        ReadPosition.objects.update_or_create(account_id=ACCOUNT, defaults={"xid": xid, "row_id": row_id})
        assert rows_read(statement, {"account": ACCOUNT}) == expected


@pytest.mark.parametrize("reader", [(ACCOUNT, None), (None, COMMUNITY), (UUID(int=3), None), (None, UUID(int=3))])
def test_a_reader_is_found_with_one_row(positions: dict[str, Position], reader: tuple[Any, Any]) -> None:
    account, community = reader
    for position in positions.values():
        values = {
            "numbers": [0],
            "accounts": [account],
            "communities": [community],
            "generations": [0],
            "xids": [position.xid],
            "ids": [position.id],
            "horizon": horizon(),
        }
        assert rows_read(pending.FIND, values) <= 1 + NEWEST
