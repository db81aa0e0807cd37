"""What pruning leaves of deleted embeds: a row to which posts refer, without texts and numbers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from embeds import forgetting
from embeds.analytics.rollup import roll_up
from embeds.models import Embed, Sighting
from embeds.personal_data import erase
from embeds.services import delete_embed
from kernel.personal_data import Subject
from messaging.models import Webhook, WebhookTarget
from messaging.privacy.erasing import heirs
from messaging.webhooks.services import create_webhook
from tests.agents.racing import race
from tests.api import Api
from tests.embeds.making import an_embed, send
from tests.webhooks.making import GLOBAL_URL

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
TABLES = ("embeds_event", "embeds_dailycount", "embeds_dailyvisitors", "embeds_sighting")
TEXTS: dict[str, Any] = {
    "name": "Harbour",
    "description": "Ours",
    "domain_whitelist": ["a.example"],
    "blocked_words": ["spam"],
}


def used() -> tuple[Embed, Embed]:
    """Two with counts of a closed day, raw events and visitors of two open ones, and a host."""
    embeds = an_embed(**TEXTS), an_embed(**TEXTS)
    for days in range(3):
        if days == 1:
            roll_up(at=NOON + timedelta(days=2))
        for path in ("/", "/a", "/b"):
            for embed in embeds:
                send(embed, "trigger_view", NOON + timedelta(days=days), path=path)
    for embed in embeds:
        Sighting.objects.create(embed_id=embed.pk, host="a.example", is_refused=False)
    return embeds


def delete(embed: Embed) -> None:
    delete_embed(embed_id=embed.pk, owner=embed.owner)


def prune(*, dry_run: bool = False) -> int:
    return forgetting.prune(now=timezone.now(), dry_run=dry_run)["deleted embeds"]


def numbers_of(embed: Embed) -> int:
    return sum(count_of(table, embed) for table in TABLES)


def count_of(table: str, embed: Embed) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {table} WHERE embed_id = %s", [embed.pk])
        return int(cursor.fetchone()[0])


@pytest.mark.django_db
def test_the_texts_and_numbers_of_a_deleted_embed_go_and_those_of_others_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forgetting, "BATCH", 2)
    embed, other = used()
    before = [count_of(table, other) for table in TABLES]
    assert [count_of(table, embed) for table in TABLES] == before
    assert min(before) > 0
    delete(embed)
    assert (prune(dry_run=True), prune(), prune(), prune(dry_run=True)) == (1, 1, 0, 0)
    assert numbers_of(embed) == 0
    assert [count_of(table, other) for table in TABLES] == before
    embed.refresh_from_db()
    assert (embed.name, embed.description, embed.domain_whitelist, embed.blocked_words) == ("Deleted", "", [], [])
    other.refresh_from_db()
    assert (other.name, other.deleted_at) == ("Harbour", None)


@pytest.mark.django_db
def test_an_embed_that_was_called_like_a_deleted_one_loses_its_numbers_too() -> None:
    embed = an_embed(name="Deleted")
    send(embed, "trigger_view", NOON)
    roll_up(at=NOON + timedelta(days=2))
    delete(embed)
    assert (prune(), prune()) == (1, 0)
    assert numbers_of(embed) == 0


@pytest.mark.django_db
@pytest.mark.parametrize(
    "fields", [{"page_rules": {"type": "patterns", "patterns": ["/a"]}}, {"trigger_config": {"message": "Talk"}}]
)
def test_rules_and_triggers_are_texts_too(fields: dict[str, dict[str, object]]) -> None:
    embed = an_embed(name="Deleted", **fields)
    delete(embed)
    assert (prune(), prune()) == (1, 0)


@pytest.mark.django_db
def test_the_webhooks_of_an_embed_that_an_earlier_release_deleted_end(settings: Any) -> None:
    settings.WEBHOOKS = True
    embed = an_embed()
    for number in range(2):
        url = f"{GLOBAL_URL}/{number}"
        create_webhook(owner=embed.owner, target_kind=WebhookTarget.EMBED, target_id=embed.pk, url=url)
    blocked = Webhook.objects.first()
    Webhook.objects.filter(pk=blocked and blocked.pk).update(status="disabled", disabled_reason="super_admin")
    Embed.objects.update(deleted_at=timezone.now())
    assert (prune(), prune()) == (1, 0)
    assert list(Webhook.objects.all()) == [blocked]


@pytest.mark.django_db
def test_an_erasure_stops_the_embeds_before_it_deletes_their_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the events of a busy site would keep it from ending."""
    monkeypatch.setattr(forgetting, "BATCH", 2)
    embed, _other = used()
    subject = Subject((embed.owner_id,), (embed.owner.handle,), heirs(), delete_posts=True)
    assert erase(subject) == 1
    assert Api().get(f"/api/embeds/config/{embed.pk}").error == "embed_not_found"
    assert numbers_of(embed) > 0
    while erase(subject):
        pass
    embed.refresh_from_db()
    assert (embed.name, embed.owner_id, numbers_of(embed)) == ("Deleted", heirs()["human"], 0)


@pytest.mark.django_db(transaction=True)
def test_two_hosts_may_forget_at_once_and_a_locked_row_is_left_to_the_next_run() -> None:
    embed, _other = used()
    delete(embed)

    def one(_number: int) -> int:
        return prune()

    with transaction.atomic():
        Embed.objects.select_for_update().get(pk=embed.pk)
        assert race(1, one) == [0]
    assert sum(race(3, one)) >= 1
    assert (prune(), numbers_of(embed)) == (0, 0)
