"""The day on which a page last had a widget: from events, and from the panel's normalizeUrl."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction

from embeds.models import Embed, EmbedStatus
from messaging.models import Page
from tests.api import Api
from tests.days import today
from tests.embeds.making import EVENTS, UNKNOWN_ID, an_embed
from tests.factories import PageFactory
from tests.sessions import in_background

pytestmark = pytest.mark.django_db
URL = "https://site.example/blog"


def report(embed: Embed, url: str = URL, event: str = "embed_load") -> int:
    return Api().post(EVENTS, {"serviceId": str(embed.pk), "event": event, "pageUrl": url}).status


def normalize(embed_id: Any, url: str = URL) -> int:
    return Api().post("/v1/presence/normalize-url", {"url": url}, headers={"x-service-embed-id": str(embed_id)}).status


def day_of(page: Page) -> Any:
    return Page.objects.get(pk=page.pk).last_embedded_on


@pytest.mark.parametrize("days_before", [None, 3])
def test_an_event_stores_the_day_with_its_page(days_before: int | None) -> None:
    page, other = PageFactory(url=URL), PageFactory()
    before = None if days_before is None else today() - timedelta(days=days_before)
    Page.objects.filter(pk=page.pk).update(last_embedded_on=before)
    assert report(an_embed(), "http://www.site.example/blog/?utm_source=x") == 201
    assert (day_of(page), day_of(other)) == (today(), None)


def origin(page: Page) -> Any:
    return Page.objects.get(pk=page.pk).embedded_origin


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (URL, "https://site.example"),
        ("http://www.SITE.example:80/blog?utm_source=x#top", "http://www.site.example"),
        ("https://user:secret@site.example/blog", "https://site.example"),
    ],
)
def test_the_origin_is_stored_and_nothing_else_of_the_address(url: str, expected: str) -> None:
    reported, normalised = PageFactory(url=URL), PageFactory(url=f"{URL}/2")
    assert report(an_embed(), url) == 201
    assert normalize(an_embed().pk, url.replace("/blog", "/blog/2")) == 200
    assert (origin(reported), origin(normalised)) == (expected, expected)


def test_the_origin_is_written_once_a_day_and_at_once_where_it_is_unknown() -> None:
    page, embed = PageFactory(url=URL), an_embed()
    Page.objects.filter(pk=page.pk).update(last_embedded_on=today())
    for url in ("http://site.example/blog", URL):
        report(embed, url)
        assert origin(page) == "http://site.example"
    Page.objects.filter(pk=page.pk).update(last_embedded_on=today() - timedelta(days=1))
    report(embed, URL)
    assert (origin(page), day_of(page)) == ("https://site.example", today())


def test_the_panel_stores_the_day_when_it_asks_for_the_id_of_the_page() -> None:
    """It names the whole URL, events only the path."""
    page = PageFactory(url=f"{URL}?story=1")
    assert normalize(an_embed().pk, f"{URL}?story=1#top") == 200
    assert day_of(page) == today()
    unknown = f"{URL}/new"
    assert normalize(an_embed().pk, unknown) == 200
    assert Page.objects.get(normalized_url=unknown).last_embedded_on == today()


def test_nothing_is_written_a_second_time_on_a_day() -> None:
    page, embed = PageFactory(url=URL), an_embed()
    version = None
    for _ in range(3):
        assert (report(embed), normalize(embed.pk)) == (201, 200)
        with connection.cursor() as cursor:
            cursor.execute("SELECT ctid FROM messaging_page WHERE id = %s", [page.pk])
            now = cursor.fetchone()
        assert version in (None, now)
        version = now


def test_an_event_makes_no_page() -> None:
    assert report(an_embed()) == 201
    assert not Page.objects.exists()


@pytest.mark.parametrize(
    "fields",
    [{"domain_whitelist": ["other.example"]}, {"domain_blacklist": ["site.example"]}, {"status": EmbedStatus.PAUSED}],
)
def test_an_embed_that_may_not_run_on_the_page_stores_nothing(fields: dict[str, Any]) -> None:
    page = PageFactory(url=URL)
    status = fields.pop("status", None)
    embed = an_embed(**fields)
    if status:
        Embed.objects.filter(pk=embed.pk).update(status=status)
    assert (report(embed), normalize(embed.pk)) == (403, 200)
    assert (day_of(page), origin(page)) == (None, None)


@pytest.mark.parametrize("embed_id", [UNKNOWN_ID, "", "x", "0" * 5_000])
def test_an_unknown_embed_is_ignored_by_normalize_url(embed_id: str) -> None:
    page = PageFactory(url=URL)
    assert normalize(embed_id) == 200
    assert day_of(page) is None


def test_normalize_url_without_an_embed_stores_no_day() -> None:
    page = PageFactory(url=URL)
    assert Api().post("/v1/presence/normalize-url", {"url": URL}).status == 200
    assert day_of(page) is None


@pytest.mark.django_db(transaction=True)
def test_an_event_does_not_wait_for_a_locked_page() -> None:
    page, embed = PageFactory(url=URL), an_embed()
    with transaction.atomic():
        Page.objects.select_for_update().get(pk=page.pk)
        with ThreadPoolExecutor(1) as pool:
            assert in_background(pool, lambda: report(embed)).result() == 201
    assert day_of(page) is None
    assert report(embed) == 201
    assert day_of(page) == today()
