from __future__ import annotations

from datetime import UTC, datetime, timedelta
from io import StringIO
from itertools import pairwise
from uuid import UUID

import pytest
from django.core.management import call_command
from django.db import connection

from kernel.database.locks import host_lock
from kernel.database.sql import database_now, execute, fetch_all
from messaging.models import Message
from messaging.posts.partitioning import swapping, tables
from messaging.posts.partitioning.converting import convert, steps
from messaging.posts.partitioning.swapping import AHEAD, BOUND_MARGIN, FAR, make_partitions, missing
from messaging.posts.partitioning.tables import BOUND_CHECK, FIRST, REST, TABLE, Partition, first_id, month_after
from tests.factories import MessageFactory

NOW = datetime(2026, 3, 15, tzinfo=UTC)
DAY = timedelta(days=1)


def month(year: int, number: int) -> datetime:
    return datetime(year, number, 1, tzinfo=UTC)


def made() -> str:
    """What the command prints."""
    out = StringIO()
    call_command("make_partitions", stdout=out)
    return out.getvalue()


def partition(start: datetime | None, end: datetime) -> Partition:
    return Partition("newest", start, end)


class TestMissing:
    def starts(self, newest: Partition, rest_until: datetime | None = None) -> list[datetime | None]:
        found = missing([partition(None, month(2025, 1)), newest], now=NOW, rest_until=rest_until)
        bounds = [each.start for each in found] + [each.end for each in found[-1:]]
        assert all(one.end == other.start for one, other in pairwise(found)), "no gap"
        return bounds

    def test_partitions_reach_from_the_end_of_the_newest_until_90_days_ahead(self) -> None:
        assert month(2026, 7) > NOW + AHEAD
        monthly = partition(month(2026, 3), month(2026, 4))
        assert self.starts(monthly) == [month(2026, number) for number in (4, 5, 6, 7)]

    def test_they_are_as_wide_as_the_newest(self) -> None:
        assert self.starts(partition(month(2024, 4), month(2026, 4))) == [month(2026, 4), month(2028, 4)]

    def test_after_the_first_partition_alone_they_are_of_a_month(self) -> None:
        assert self.starts(partition(None, month(2026, 6))) == [month(2026, 6), month(2026, 7)]

    def test_none_is_missing_where_they_reach_that_far(self) -> None:
        assert self.starts(partition(month(2026, 6), month(2026, 7))) == []

    @pytest.mark.parametrize(
        ("rest_until", "first"),
        [
            # An id of before the gap, such as one that no partition had at its time.
            (month(2026, 4) - timedelta(milliseconds=1), 4),
            (month(2026, 4), 5),
            (month(2026, 5) - timedelta(milliseconds=1), 5),
            (month(2026, 5) + 10 * DAY, 6),
        ],
    )
    def test_months_of_which_the_rest_has_a_post_stay_there(self, rest_until: datetime, first: int) -> None:
        starts = self.starts(partition(month(2026, 3), month(2026, 4)), rest_until)
        assert starts == [month(2026, number) for number in range(first, 8)]

    def test_a_post_of_later_than_90_days_ahead_leaves_all_until_then_to_the_rest(self) -> None:
        assert self.starts(partition(month(2026, 3), month(2026, 4)), month(2026, 8)) == []


@pytest.mark.django_db
class TestDivided:
    """The table of the test is divided, and the partitions are to reach further."""

    @pytest.fixture(autouse=True)
    def newest(self, monkeypatch: pytest.MonkeyPatch) -> Partition:
        convert(months=1, say=lambda _line: None)
        monkeypatch.setattr(swapping, "AHEAD", AHEAD + 120 * DAY)
        return tables.partitions()[-1]

    def post_at(self, at: datetime) -> UUID:
        message = MessageFactory(id=first_id(at))
        return UUID(str(message.pk))

    def of_rest(self) -> list[UUID]:
        return [row[0] for row in fetch_all(f"SELECT id FROM {REST} ORDER BY id")]

    def test_partitions_are_made_without_gap_and_once(self, newest: Partition) -> None:
        assert "Made" in made()
        found = tables.partitions()
        assert found[-1].end >= database_now() + swapping.AHEAD
        assert [each.start for each in found[1:]] == [each.end for each in found[:-1]]
        assert "Made" not in made()
        assert tables.partitions() == found
        self.post_at(newest.end + DAY)
        assert self.of_rest() == []

    def test_a_post_in_the_rest_is_in_no_ones_way_and_stays(self, newest: Partition) -> None:
        """PostgreSQL refuses a partition with a row of the default one."""
        far, early = self.post_at(database_now() + FAR + DAY), self.post_at(newest.end + 40 * DAY)
        connection.cursor().execute("SET CONSTRAINTS ALL IMMEDIATE")
        assert self.of_rest() == [early, far]
        assert "Made" in made()
        starts = [each.start for each in tables.partitions()]
        assert month_after(newest.end, 2) in starts
        assert not {newest.end, month_after(newest.end, 1)} & set(starts)
        assert self.of_rest() == [early, far]
        assert Message.objects.filter(pk__in=[early, far]).count() == 2


@pytest.mark.django_db
@pytest.mark.parametrize(("left", "is_forgotten"), [(BOUND_MARGIN - DAY, True), (BOUND_MARGIN + DAY, False)])
def test_the_bound_of_an_unfinished_conversion_is_forgotten_before_it_refuses_posts(
    left: timedelta, is_forgotten: bool
) -> None:
    bound = database_now() + left
    execute(f"ALTER TABLE {TABLE} ADD CONSTRAINT {BOUND_CHECK} CHECK (id < '{first_id(bound)}') NOT VALID")
    assert ("An unfinished conversion was taken back" in made()) == is_forgotten
    assert (tables.bound_check() is None) == is_forgotten
    assert not tables.is_partitioned()
    if is_forgotten:
        MessageFactory(id=first_id(bound + DAY))
        assert made() == ""


@pytest.mark.django_db
def test_a_divided_table_keeps_no_bound() -> None:
    convert(months=1, say=lambda _line: None)
    assert tables.bound_check() is None
    assert tables.partitions()[0].name == FIRST
    MessageFactory(id=first_id(database_now() + FAR))
    make_partitions(say=lambda _line: None)


@pytest.mark.django_db
def test_each_step_that_delays_readers_of_the_change_log_says_so() -> None:
    said: list[str] = []
    planned = steps(months=1)
    convert(months=1, say=said.append)
    for lines in (said, planned):
        long = [line for line in lines if "to validate it" in line or line.startswith("Validat")]
        assert len(long) >= 2
        assert all(
            "new changes reach streams, inboxes, webhooks and mails when it has ended" in line for line in long
        ), long


@pytest.mark.django_db
def test_the_command_does_not_wait_for_a_conversion() -> None:
    with host_lock(connection, task="migrates", say=print):
        assert "is running; the next run makes partitions" in made()


@pytest.mark.django_db
def test_the_command_changes_nothing_unless_the_table_is_divided() -> None:
    assert made() == ""
