"""On which hosts an embed was loaded or refused: what the loader's requests tell."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from django.db import connection

from embeds import page_loads
from embeds.models import DOMAIN_MAX, Embed, Sighting
from tests.api import Api
from tests.embeds.making import EVENTS, UNKNOWN_ID, an_embed
from tests.sessions import in_background

pytestmark = pytest.mark.django_db
SITE = "https://site.example"


@pytest.fixture(autouse=True)
def _written_at_once(settings: Any) -> None:
    settings.SIGHTING_SECONDS = 0
    page_loads._noted.clear()
    page_loads._written.clear()


def load(embed: Embed, origin: str | None = SITE) -> int:
    headers = {} if origin is None else {"Origin": origin}
    return Api().get(f"/api/embeds/config/{embed.pk}", headers=headers).status


def event(embed: Embed, url: str) -> int:
    return Api().post(EVENTS, {"serviceId": str(embed.pk), "event": "embed_load", "pageUrl": url}).status


def seen(embed: Embed) -> dict[str, tuple[bool, str]]:
    return {row.host: (row.is_refused, row.path) for row in Sighting.objects.filter(embed_id=embed.pk)}


def test_a_request_for_the_configuration_stores_the_host_of_its_page() -> None:
    embed = an_embed()
    assert load(embed) == 200
    assert seen(embed) == {"site.example": (False, "")}


def test_an_event_adds_the_path_and_no_query() -> None:
    embed = an_embed()
    load(embed)
    assert event(embed, f"{SITE}/blog/?secret=1#part") == 201
    assert seen(embed) == {"site.example": (False, "/blog")}
    page_loads._written.clear()
    load(embed)
    assert seen(embed) == {"site.example": (False, "/blog")}


@pytest.mark.parametrize(
    ("addresses", "is_plain"),
    [
        (["http://site.example"], True),
        (["HTTP://site.example/a", "http://site.example"], True),
        (["http://site.example", "https://site.example/a"], False),
        (["https://site.example", "http://site.example/a"], False),
    ],
)
@pytest.mark.parametrize("seconds", [0, 60])
def test_one_visit_over_https_tells_that_a_site_has_it(
    addresses: list[str], is_plain: bool, seconds: int, settings: Any
) -> None:
    settings.SIGHTING_SECONDS = seconds
    embed, other = an_embed(), an_embed()
    for address in addresses:
        load(embed, address) if address.endswith("example") else event(embed, address)
    load(other, "http://site.example")
    page_loads.flush()
    assert Sighting.objects.get(embed_id=embed.pk).is_plain is is_plain
    assert Sighting.objects.get(embed_id=other.pk).is_plain
    # As after a visit that an earlier release noted.
    Sighting.objects.update(is_plain=None)
    page_loads._written.clear()
    load(embed, "http://site.example")
    page_loads.flush()
    assert Sighting.objects.get(embed_id=embed.pk).is_plain


def test_a_refused_host_is_stored_as_refused_until_it_is_allowed() -> None:
    embed = an_embed(domain_whitelist=["other.example"])
    assert load(embed) == 403
    assert seen(embed) == {"site.example": (True, "")}
    Embed.objects.filter(pk=embed.pk).update(domain_whitelist=[])
    assert load(embed) == 200
    assert seen(embed) == {"site.example": (False, "")}


def test_a_page_without_a_host_is_stored_as_null() -> None:
    embed = an_embed()
    load(embed, "null")
    assert seen(embed) == {"null": (False, "")}


@pytest.mark.parametrize(
    "origin",
    [
        None,
        "https://",
        "https://a b",
        "https://site.example/path",
        "https://x\x7f",
        "https://" + "a" * DOMAIN_MAX + ".example",
    ],
)
def test_a_request_without_a_host_stores_nothing_and_is_answered(origin: str | None) -> None:
    embed = an_embed()
    assert load(embed, origin) == 200
    assert set(seen(embed)) <= {"null"}


def test_an_unknown_embed_stores_nothing() -> None:
    Api().get(f"/api/embeds/config/{UNKNOWN_ID}", headers={"Origin": SITE})
    assert not Sighting.objects.exists()


def test_a_host_is_written_at_most_once_a_minute(django_assert_num_queries: Any) -> None:
    embed = an_embed()
    page_loads.note(embed_id=embed.pk, host="site.example", address=SITE)
    with django_assert_num_queries(0):
        page_loads.note(embed_id=embed.pk, host="site.example", address=SITE)


def test_visits_of_one_second_are_written_together(settings: Any) -> None:
    settings.SIGHTING_SECONDS = 3600
    embeds = [an_embed() for _ in range(3)]
    for embed in embeds:
        load(embed)
    assert not Sighting.objects.exists()
    page_loads.flush()
    assert Sighting.objects.count() == 3


def test_only_the_newest_hosts_of_an_embed_are_stored() -> None:
    embed, other = an_embed(), an_embed()
    load(other)
    for number in range(page_loads.HOSTS_MAX + 5):
        load(embed, f"https://site-{number}.example")
    assert len(seen(embed)) == page_loads.HOSTS_MAX
    assert "site-0.example" not in seen(embed)
    assert f"site-{page_loads.HOSTS_MAX + 4}.example" in seen(embed)
    assert seen(other)


@pytest.mark.parametrize(
    ("whitelist", "invented"),
    [
        (["site.example"], "https://site-{}.example"),
        (["site.example", "*.site.example"], "https://x{}.site.example"),
        (["site.example"], "https://site.example:{}"),
        (["site.example", "www.other.example"], "https://www.site.example:{}"),
    ],
)
def test_invented_hosts_do_not_displace_one_of_the_whitelist(whitelist: list[str], invented: str) -> None:
    embed, other = an_embed(domain_whitelist=whitelist), an_embed(domain_whitelist=whitelist)
    load(embed, "https://www.site.example")
    load(embed)
    load(other)
    for number in range(1, page_loads.HOSTS_MAX + 3):
        load(embed, invented.format(number))
    assert {"site.example", "www.site.example"} <= seen(embed).keys()
    assert len(seen(embed)) <= 2 * page_loads.HOSTS_MAX
    assert seen(other) == {"site.example": (False, "")}


def test_refused_hosts_compete_among_themselves() -> None:
    """The newest is shown to an owner who has forgotten to allow it, beside any number of allowed hosts."""
    hosts = [f"site-{number}.example" for number in range(page_loads.HOSTS_MAX + 5)]
    embed = an_embed(domain_whitelist=hosts)
    for number in range(page_loads.HOSTS_MAX + 5):
        load(embed, f"https://refused-{number}.example")
    for host in hosts:
        load(embed, f"https://{host}")
    refused = {host for host, (is_refused, _path) in seen(embed).items() if is_refused}
    assert len(refused) == page_loads.HOSTS_MAX
    assert f"refused-{page_loads.HOSTS_MAX + 4}.example" in refused
    assert len(seen(embed)) == 2 * page_loads.HOSTS_MAX


def test_a_host_that_is_on_the_blacklist_now_is_one_of_the_others() -> None:
    embed = an_embed(domain_whitelist=["site.example"], domain_blacklist=["site.example"])
    load(embed)
    for number in range(page_loads.HOSTS_MAX):
        load(embed, f"https://site-{number}.example")
    assert len(seen(embed)) == page_loads.HOSTS_MAX


def test_notes_of_one_batch_are_limited(settings: Any) -> None:
    settings.SIGHTING_SECONDS = 3600
    embed = an_embed()
    for number in range(page_loads.NOTES_MAX + 10):
        page_loads.note(embed_id=embed.pk, host=f"site-{number}.example", address=SITE)
    assert len(page_loads._noted) == page_loads.NOTES_MAX
    page_loads._noted.clear()


def test_a_database_error_does_not_change_the_response() -> None:
    embed = an_embed()
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE embeds_sighting RENAME TO gone")
    assert load(embed) == 200


def test_hosts_are_pruned_after_thirty_days() -> None:
    embed = an_embed()
    load(embed)
    now = datetime.now(UTC)
    assert page_loads.prune(now=now, dry_run=False) == {"hosts of widgets": 0}
    later = now + timedelta(days=page_loads.STORED_DAYS, seconds=5)
    assert page_loads.prune(now=later, dry_run=True) == {"hosts of widgets": 1}
    assert page_loads.prune(now=later, dry_run=False) == {"hosts of widgets": 1}
    assert not seen(embed)


@pytest.mark.django_db(transaction=True)
def test_processes_that_write_the_same_hosts_at_once_all_succeed() -> None:
    embeds = [an_embed() for _ in range(5)]

    def write(turn: int) -> int:
        rows = [(embed.pk, "site.example", False, "", True) for embed in (embeds if turn % 2 else embeds[::-1])]
        return page_loads.execute(page_loads.WRITE, [list(column) for column in zip(*rows, strict=True)])

    with ThreadPoolExecutor(4) as pool:
        futures = [in_background(pool, partial(write, turn)) for turn in range(20)]
        written = [future.result() for future in futures]
    assert written == [5] * 20
    assert Sighting.objects.count() == 5
