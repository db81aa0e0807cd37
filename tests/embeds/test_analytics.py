"""Roll-up, visitors and getEmbedAnalytics."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.core.management import call_command
from django.db import connection
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from embeds.analytics import ingest
from embeds.analytics.ingest import KNOWN_EVENTS, OWN_NAMES_MAX, PATHS_MAX
from embeds.analytics.rollup import prune, roll_up
from embeds.analytics.summary import PAGES_SHOWN, Summary, summarize
from embeds.models import DailyCount, DailySalt, DailyVisitors, Embed
from tests.api import Api
from tests.embeds.making import EVENTS, an_embed, rows_of, send

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
DAY = NOON.date()
LOAD = """
INSERT INTO embeds_event (slot, day, embed_id, event, path, visitor)
SELECT %(slot)s, %(day)s, %(embed)s, 'own_' || (n %% %(names)s), '/page-' || (n %% %(paths)s),
    decode(md5((n %% 5000)::text), 'hex')
FROM generate_series(1, %(events)s) AS n
"""


def load(embed_id: UUID, day: date = DAY, *, events: int, names: int, paths: int) -> None:
    """Insert many events with one statement, in the same form as the service."""
    with connection.cursor() as cursor:
        parameters = {"slot": day.toordinal() % 4, "day": day, "embed": embed_id}
        cursor.execute(LOAD, parameters | {"events": events, "names": names, "paths": paths})


def month_of(embed: Embed) -> Summary:
    return summarize(embed_id=embed.pk, first=DAY - timedelta(days=29), last=DAY)


def read(embed: Embed, **query: Any) -> Any:
    return Api.as_signed_in(embed.owner).get(f"/api/embeds/analytics/{embed.pk}", **query)


def test_summary_is_the_same_before_and_after_roll_ups() -> None:
    embed, other = an_embed(), an_embed()
    yesterday = NOON - timedelta(days=1)
    for name in ("trigger_view", "trigger_view", "trigger_view", "trigger_click", "own_thing"):
        send(embed, name, NOON, path="/blog/?q=1")
    send(embed, "trigger_view", yesterday, path="/", address="192.0.2.2")
    send(embed, "trigger_view", NOON, path="/", address="192.0.2.2")
    send(other, "trigger_view", NOON)
    response = read(embed, **{"from": "2026-03-08", "to": "2026-03-10"})
    expected = {
        "embedId": str(embed.pk),
        "from": "2026-03-08",
        "to": "2026-03-10",
        "totals": dict.fromkeys(KNOWN_EVENTS, 0) | {"trigger_view": 5, "trigger_click": 1},
        "events": {"own_thing": 1},
        "uniqueVisitors": 3,
        "clickRate": 0.2,
        "days": [
            {"date": "2026-03-08", "counts": {}, "uniqueVisitors": 0},
            {"date": "2026-03-09", "counts": {"trigger_view": 1}, "uniqueVisitors": 1},
            {
                "date": "2026-03-10",
                "counts": {"trigger_view": 4, "trigger_click": 1, "own_thing": 1},
                "uniqueVisitors": 2,
            },
        ],
        "pages": [
            {"path": "/blog", "counts": {"trigger_view": 3, "trigger_click": 1, "own_thing": 1}},
            {"path": "/", "counts": {"trigger_view": 2}},
        ],
    }
    assert (response.status, response.json) == (200, expected)
    # Roll-ups while the days are open, after they are closed, and a repeated one.
    for at in (NOON, NOON + timedelta(days=3), NOON + timedelta(days=3)):
        roll_up(at=at)
        assert read(embed, **{"from": "2026-03-08", "to": "2026-03-10"}).json == expected
    assert rows_of("embeds_event") + rows_of("embeds_visitor") == 0


def test_click_rate_without_a_view_is_null() -> None:
    embed = an_embed()
    send(embed, "trigger_click", NOON)
    assert month_of(embed).click_rate is None


def test_default_period_is_the_last_30_days() -> None:
    embed = an_embed()
    Api().post(EVENTS, {"serviceId": str(embed.pk), "event": "embed_load", "pageUrl": "https://a.example"})
    body = read(embed).json
    today = datetime.now(UTC).date()
    assert [body["from"], body["to"]] == [str(today - timedelta(days=29)), str(today)]
    assert len(body["days"]) == 30
    assert (body["totals"]["embed_load"], body["uniqueVisitors"]) == (1, 1)


def test_invalid_query_is_400() -> None:
    for query in [
        {"from": "2026-03-02", "to": "2026-03-01"},
        {"from": "2025-01-01", "to": "2026-02-05"},
        {"from": "2026-1-1"},
        {"from": "20260101"},
        {"from": "2026-02-30", "to": "2026-03-01"},
        {"from": "２０２６-01-01"},
        {"from": ""},
        {"to": "today"},
        {"to": "2026-03-01T00:00:00Z"},
        {"format": "xml"},
        {"from": "0001-01-01", "to": "9999-12-31"},
    ]:
        response = read(an_embed(), **query)
        assert (response.status, response.error) == (400, "invalid_input"), query
        assert response.json["field"] in query, query


def test_longest_earliest_and_latest_periods_are_accepted() -> None:
    embed = an_embed()
    assert len(read(embed, **{"from": "2025-01-01", "to": "2026-02-04"}).json["days"]) == 400
    assert len(read(embed, to="0001-01-05").json["days"]) == 5
    assert read(embed, to="9999-12-31").status == 200


def test_csv_has_one_row_per_day() -> None:
    embed = an_embed()
    send(embed, "trigger_view", NOON)
    send(embed, "own_thing", NOON)
    response = read(embed, **{"from": "2026-03-09", "to": "2026-03-10", "format": "csv"})
    assert response.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert f"embed-{embed.pk}-2026-03-09-2026-03-10.csv" in response.headers["Content-Disposition"]
    rows = list(csv.DictReader(io.StringIO(response.body.decode())))
    assert [(row["date"], row["uniqueVisitors"], row["trigger_view"], row["own_thing"]) for row in rows] == [
        ("2026-03-09", "0", "0", "0"),
        ("2026-03-10", "1", "1", "1"),
    ]


@pytest.mark.parametrize("rounds", [1, 4])
def test_many_names_and_paths_are_stored_in_few_rows(rounds: int) -> None:
    """100,000 events with 10,000 paths and 1,000 names, in one roll-up or in several."""
    embed, other = an_embed(), an_embed()
    send(other, "trigger_view", NOON)
    for n in range(rounds):
        load(embed.pk, events=100_000 // rounds, names=1_000 if n else 997, paths=10_000)
        for _ in range(7):
            send(embed, "trigger_view", NOON)
        before = month_of(embed)
        assert roll_up(at=NOON) == 100_000 // rounds + 7 + (not n)
        after = month_of(embed)
        assert (after.days, after.pages, after.visitors) == (before.days, before.pages, before.visitors)
    assert after.counts.total() == 100_000 + 7 * rounds
    assert sum(counts.total() for counts in after.pages.values()) == after.counts.total()
    assert after.counts["trigger_view"] == 7 * rounds
    assert after.visitors == {DAY: 5_001}
    rows = DailyCount.objects.filter(embed_id=embed.pk)
    assert rows.values("event").distinct().count() == OWN_NAMES_MAX + 2
    assert rows.values("path").distinct().count() == PATHS_MAX + 1
    assert len(after.pages) == PAGES_SHOWN + 1
    assert DailyCount.objects.count() <= (OWN_NAMES_MAX + 9) * (PATHS_MAX + 1)
    assert rows_of("embeds_event") == 0
    roll_up(at=NOON + timedelta(days=2))
    assert rows_of("embeds_visitor") == 0
    assert month_of(embed).visitors == after.visitors


def test_the_most_frequent_names_get_a_count_and_keep_it() -> None:
    embed = an_embed()
    for n in range(60):
        for _ in range(2 if n < 10 else 1):
            send(embed, f"own_{n:02}", NOON)
    roll_up(at=NOON)
    first = set(month_of(embed).counts)
    assert {f"own_{n:02}" for n in range(10)} < first
    assert len(first) == OWN_NAMES_MAX + 1
    for _ in range(9):
        send(embed, "own_59", NOON)
    send(embed, "own_00", NOON)
    counts = month_of(embed).counts
    assert "own_59" not in counts
    assert (counts["_other"], counts["own_00"]) == (10 + 9, 3)
    send(embed, "own_59", NOON + timedelta(days=1))
    assert summarize(embed_id=embed.pk, first=DAY, last=DAY + timedelta(days=1)).counts["own_59"] == 1


class AnyOrder(TestCase):
    """The summary equals the events sent, for any events and any times of roll-ups."""

    @settings(max_examples=15, deadline=None)
    @given(
        st.lists(
            st.tuples(
                st.sampled_from(["trigger_view", "own_a", "own_b"]),
                st.sampled_from(["/", "/a"]),
                st.integers(0, 6),
                st.integers(1, 3),
            )
            | st.just("roll up"),
            max_size=25,
        )
    )
    def test_summary_is_exact(self, steps: list[Any]) -> None:
        embed = an_embed()
        sent: Counter[tuple[date, str]] = Counter()
        visitors: dict[date, set[int]] = {}
        now = NOON
        for step in steps:
            if step == "roll up":
                roll_up(at=now)
                continue
            event, path, days, visitor = step
            now = max(now, NOON + timedelta(days=days))
            send(embed, event, now, path=path, address=f"192.0.2.{visitor}")
            sent[now.date(), event] += 1
            visitors.setdefault(now.date(), set()).add(visitor)
        summary = summarize(embed_id=embed.pk, first=DAY, last=DAY + timedelta(days=10))
        assert {(day, event): n for day, events in summary.days.items() for event, n in events.items()} == sent
        assert summary.visitors == {day: len(numbers) for day, numbers in visitors.items()}


def test_visitor_hash_differs_by_day_embed_address_and_user_agent() -> None:
    embed_id, other_id = an_embed().pk, an_embed().pk
    who = {"address": "192.0.2.1", "user_agent": "Mozilla"}
    today = ingest.visitor_hash(day=DAY, embed_id=embed_id, **who)
    assert today == ingest.visitor_hash(day=DAY, embed_id=embed_id, **who)
    others = [
        ingest.visitor_hash(day=DAY, embed_id=other_id, **who),
        ingest.visitor_hash(day=DAY + timedelta(days=1), embed_id=embed_id, **who),
        ingest.visitor_hash(day=DAY, embed_id=embed_id, **who | {"address": "192.0.2.2"}),
        ingest.visitor_hash(day=DAY, embed_id=embed_id, **who | {"user_agent": "Other"}),
    ]
    assert len({today, *others}) == 5


def test_visitors_are_unlinkable_after_the_salt_is_deleted() -> None:
    """Also for a party that has the whole database and knows the address and user agent."""
    embed = an_embed()
    send(embed, "trigger_view", NOON)
    stored = _hashes()
    who = {"embed_id": embed.pk, "address": "192.0.2.1", "user_agent": "Mozilla/5.0 (Test)"}
    assert ingest.visitor_hash(day=DAY, **who) in stored
    counts = prune(now=NOON + timedelta(days=1), dry_run=False)
    assert counts["analytics salts"] == 0
    counts = prune(now=datetime(2026, 3, 12, tzinfo=UTC), dry_run=False)
    assert counts["analytics salts"] == 1
    assert not DailySalt.objects.exists()
    assert ingest.visitor_hash(day=DAY, **who) not in stored
    assert not _hashes()


def _hashes() -> set[bytes]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT visitor FROM embeds_event UNION SELECT visitor FROM embeds_visitor")
        return {bytes(visitor) for (visitor,) in cursor.fetchall()}


def test_salt_of_each_day_is_random() -> None:
    created = {ingest.salt_of(DAY + timedelta(days=n)) for n in range(3)}
    assert {len(salt) for salt in created} == {32}
    assert len(created) == DailySalt.objects.count() == 3


def test_prune_deletes_the_rows_that_its_dry_run_reports() -> None:
    embed = an_embed()
    send(embed, "trigger_view", NOON)
    roll_up(at=NOON)
    send(embed, "trigger_view", NOON, address="192.0.2.7")
    later = NOON + timedelta(days=2)
    report = prune(now=later, dry_run=True)
    assert report == {
        "analytics salts": 1,
        "analytics counts": 0,
        "analytics visitor counts": 0,
        "analytics visitor hashes": 2,
    }
    assert rows_of("embeds_event") == 1
    assert prune(now=later, dry_run=False) == report
    assert set(prune(now=later, dry_run=False).values()) == {0}
    assert (month_of(embed).counts.total(), month_of(embed).visitors) == (2, {DAY: 2})


def test_counts_are_deleted_after_800_days() -> None:
    embed = an_embed()
    for days in (0, 1):
        send(embed, "trigger_view", NOON + timedelta(days=days))
    at = NOON + timedelta(days=802)
    roll_up(at=at)
    counts = prune(now=at, dry_run=False)
    assert (counts["analytics counts"], counts["analytics visitor counts"]) == (1, 1)
    assert [row.day for row in DailyCount.objects.all()] == [DAY + timedelta(days=1)]
    assert DailyVisitors.objects.count() == 1


def test_late_roll_up_loses_no_visitors() -> None:
    """Two days in one partition, four days apart: the closed day becomes a number, the open day stays."""
    embed = an_embed()
    later = NOON + timedelta(days=4)
    for at in (NOON, NOON + timedelta(days=1), later):
        send(embed, "trigger_view", at)
    roll_up(at=later)
    assert (rows_of("embeds_visitor"), DailyVisitors.objects.count()) == (1, 2)
    summary = summarize(embed_id=embed.pk, first=DAY, last=later.date())
    assert (summary.counts.total(), sum(summary.visitors.values())) == (3, 3)
    send(embed, "trigger_view", later)
    roll_up(at=later)
    assert summarize(embed_id=embed.pk, first=later.date(), last=later.date()).visitors == {later.date(): 1}


def test_closed_day_in_the_partition_of_an_open_day_is_counted_once() -> None:
    """A partition that also stores a future day is not truncated."""
    embed = an_embed()
    for at in (NOON, NOON + timedelta(days=4)):
        send(embed, "trigger_view", at)
    for _ in range(3):
        roll_up(at=NOON + timedelta(days=2))
    assert summarize(embed_id=embed.pk, first=DAY, last=DAY).visitors == {DAY: 1}
    assert rows_of("embeds_visitor") == 1


def test_command_reports_the_number_of_events(capsys: Any) -> None:
    send(an_embed(), "trigger_view", NOON)
    call_command("rollup_analytics", "--json")
    assert json.loads(capsys.readouterr().out) == {"events": 1}
    call_command("rollup_analytics")
    assert capsys.readouterr().out == "0 events rolled up\n"
