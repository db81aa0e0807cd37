"""What pruning leaves of deleted embeds: a row to which posts refer, without texts and numbers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection, transaction
from django.db.models import Model
from django.utils import timezone

from embeds import forgetting
from embeds.analytics.rollup import roll_up
from embeds.models import DailyCount, DailyVisitors, Embed, Sighting
from embeds.services import delete_embed
from tests.agents.racing import race
from tests.embeds.making import an_embed, send

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
NUMBERS: tuple[type[Model], ...] = (DailyCount, DailyVisitors, Sighting)
TEXTS = {"name": "Harbour", "description": "Ours", "domain_whitelist": ["a.example"], "blocked_words": ["spam"]}


def used(**fields: object) -> Embed:
    """With counts of a closed day, raw events of another, and a host."""
    embed = an_embed(**TEXTS | fields)
    for at in (NOON, NOON + timedelta(days=1)):
        for path in ("/", "/a", "/b"):
            send(embed, "trigger_view", at, path=path)
    Sighting.objects.create(embed_id=embed.pk, host="a.example", is_refused=False)
    return embed


def deleted() -> Embed:
    embed = used()
    roll_up(at=NOON + timedelta(days=2))
    delete_embed(embed_id=embed.pk, owner=embed.owner)
    return embed


def prune(*, dry_run: bool = False) -> int:
    return forgetting.prune(now=timezone.now(), dry_run=dry_run)["deleted embeds"]


def numbers_of(embed: Embed) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM embeds_event WHERE embed_id = %s", [embed.pk])
        (raw,) = cursor.fetchone()
    return int(raw) + sum(model._default_manager.filter(embed_id=embed.pk).count() for model in NUMBERS)


@pytest.mark.django_db
def test_the_texts_and_numbers_of_a_deleted_embed_go_and_those_of_others_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forgetting, "BATCH", 2)
    other, embed = used(), deleted()
    before = numbers_of(other)
    assert min(before, numbers_of(embed)) > 4
    assert (prune(dry_run=True), prune(), prune(), prune(dry_run=True)) == (1, 1, 0, 0)
    assert (numbers_of(embed), numbers_of(other)) == (0, before)
    embed.refresh_from_db()
    assert (embed.name, embed.description, embed.domain_whitelist, embed.blocked_words) == ("Deleted", "", [], [])
    other.refresh_from_db()
    assert (other.name, other.deleted_at) == ("Harbour", None)


@pytest.mark.django_db
def test_an_embed_that_was_called_like_a_deleted_one_loses_its_numbers_too() -> None:
    embed = an_embed(name="Deleted")
    send(embed, "trigger_view", NOON)
    roll_up(at=NOON + timedelta(days=2))
    delete_embed(embed_id=embed.pk, owner=embed.owner)
    assert (prune(), prune()) == (1, 0)
    assert numbers_of(embed) == 0


@pytest.mark.django_db(transaction=True)
def test_two_hosts_may_forget_at_once_and_a_locked_row_is_left_to_the_next_run() -> None:
    embed = deleted()

    def one(_number: int) -> int:
        return prune()

    with transaction.atomic():
        Embed.objects.select_for_update().get(pk=embed.pk)
        assert race(1, one) == [0]
    assert sum(race(3, one)) >= 1
    assert (prune(), numbers_of(embed)) == (0, 0)
