"""Channels, limits, cursors and pruning against a plain list, on generated logs."""

from __future__ import annotations

import base64
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernel.api.exceptions import InvalidCursor
from kernel.changes import pruning, reading
from kernel.changes import reading as cursors
from kernel.changes.channels import Channel
from kernel.changes.models import Change, ChangeLog
from kernel.changes.reading import CursorExpired
from kernel.changes.rows import ChangeRow, Cursor, Position
from kernel.database.sql import database_now

pytestmark = pytest.mark.django_db
EXAMPLES = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
TYPES = ["message.created", "reaction.added", "reply"]
PAGES = ["p1", "p2"]
COMMUNITIES = [UUID(int=1), UUID(int=2)]
ACCOUNTS = [UUID(int=3), UUID(int=4)]


class Row(NamedTuple):
    """A row of a generated log; few transaction ids, so that transactions have several rows."""

    xid: int
    type: str
    page_id: str | None
    community_id: UUID | None
    account_id: UUID | None
    days: int


ROWS = st.lists(
    st.builds(
        Row,
        xid=st.integers(-2, 6),
        type=st.sampled_from(TYPES),
        page_id=st.sampled_from([*PAGES, None]),
        community_id=st.sampled_from([*COMMUNITIES, None]),
        account_id=st.sampled_from([None, None, None, *ACCOUNTS]),
        days=st.integers(28, 32),
    ),
    max_size=30,
)
# After all others, and after every cursor that the tests draw.
LAST = Row(8, TYPES[0], PAGES[0], None, None, 0)
PLACES = st.one_of(
    st.just({}),
    st.builds(lambda page: {"page_id": page}, st.sampled_from(PAGES)),
    st.builds(lambda community: {"community_id": community}, st.sampled_from(COMMUNITIES)),
    st.builds(lambda account: {"account_id": account}, st.sampled_from(ACCOUNTS)),
)
CHANNELS = st.builds(
    lambda place, types: Channel(**place, types=types), PLACES, st.frozensets(st.sampled_from(TYPES), max_size=2)
)


def store(rows: list[Row]) -> list[ChangeRow]:
    """Replace the log; returns its rows in their order."""
    Change.objects.all().delete()
    ChangeLog.objects.update(pruned_xid=-(2**62), pruned_id=0)
    now = database_now()
    Change.objects.bulk_create(
        Change(id=number, at=now - timedelta(days=row.days), **{k: v for k, v in row._asdict().items() if k != "days"})
        for number, row in enumerate(rows)
    )
    return sorted((ChangeRow._make(row) for row in Change.objects.values_list(*reading.COLUMNS)), key=position)


def position(row: ChangeRow) -> Position:
    return row.position


def expected(log: list[ChangeRow], channel: Channel) -> list[Position]:
    def is_in(row: ChangeRow) -> bool:
        if row.account_id != channel.account_id or (channel.types and row.type not in channel.types):
            return False
        return (channel.page_id is None or channel.page_id == row.page_id) and (
            channel.community_id is None or channel.community_id == row.community_id
        )

    assert [row for row in log if is_in(row)] == [row for row in log if channel.includes(row)]
    return [row.position for row in log if is_in(row)]


@EXAMPLES
@given(rows=ROWS, channel=CHANNELS, limit=st.integers(1, 12), scan_max=st.integers(1, 9))
def test_batches_are_the_rows_of_the_channel_in_order(
    rows: list[Row], channel: Channel, limit: int, scan_max: int
) -> None:
    matching = expected(store(rows), channel)
    patch = pytest.MonkeyPatch()
    patch.setattr(reading, "SCAN_MAX", scan_max)
    try:
        found, cursor = [], None
        for _ in range(len(rows) + 2):
            batch = reading.read(channel, cursor, limit=limit)
            assert len(batch.rows) <= limit
            assert [batch.cursor_after(row).position for row in batch.rows] == [row.position for row in batch.rows]
            found += [row.position for row in batch.rows]
            cursor = batch.next
            if not batch.has_more:
                break
        assert found == matching
        assert not reading.read(channel, cursor, limit=limit).rows
    finally:
        patch.undo()


@EXAMPLES
@given(rows=ROWS, channel=CHANNELS, where=st.tuples(st.integers(-3, 7), st.integers(-1, 31)))
def test_a_cursor_anywhere_gives_the_rows_after_it(rows: list[Row], channel: Channel, where: tuple[int, int]) -> None:
    log = store([*rows, LAST])
    matching = [each for each in expected(log, channel) if each > where]
    batch = reading.read(channel, Cursor(0, Position(*where)), limit=100)
    assert [row.position for row in batch.rows] == matching
    assert batch.next.position == reading.now().position == log[-1].position


@EXAMPLES
@given(rows=ROWS, where=st.tuples(st.integers(-3, 7), st.integers(-1, 31)))
def test_a_cursor_is_expired_exactly_if_rows_after_it_were_deleted_or_it_is_after_all(
    rows: list[Row], where: tuple[int, int]
) -> None:
    before = [row.position for row in store(rows)]
    deleted = pruning.prune(now=database_now(), dry_run=False)["changes"]
    stored = set(Change.objects.values_list("xid", "id"))
    gone = [each for each in before if each not in stored]
    assert gone == before[:deleted], "a prefix of the log"
    cursor = Cursor(0, Position(*where))
    if any(each > where for each in gone) or all(each < where for each in before):
        with pytest.raises(CursorExpired):
            reading.read(Channel(), cursor, limit=10)
    else:
        reading.read(Channel(), cursor, limit=10)


@EXAMPLES
@given(
    generation=st.integers(-(2**15), 2**15 - 1),
    xid=st.integers(-(2**63), 2**63 - 1),
    row_id=st.integers(-(2**63), 2**63 - 1),
    flipped=st.integers(0, 8 * 30 - 1),
    bound_to=st.text(max_size=20),
)
def test_only_the_signed_text_is_a_cursor(generation: int, xid: int, row_id: int, flipped: int, bound_to: str) -> None:
    cursor = Cursor(generation, Position(xid, row_id))
    text = cursors.encode(cursor, bound_to=bound_to)
    assert cursors.decode(text, bound_to=bound_to) == cursor
    raw = bytearray(base64.urlsafe_b64decode(text))
    raw[flipped // 8] ^= 1 << flipped % 8
    changed = base64.urlsafe_b64encode(raw).decode()
    for other, bound in ((changed, bound_to), (text, bound_to + "x"), (text[:-4], bound_to)):
        with pytest.raises(InvalidCursor):
            cursors.decode(other, bound_to=bound)
