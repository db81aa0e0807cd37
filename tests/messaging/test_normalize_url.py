"""The operation normalizeUrl; `test_page_ids` tests the rules."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection

from messaging.models import Page
from tests.agents.factories import agent_with_token
from tests.agents.racing import race
from tests.api import Answer, Api

pytestmark = pytest.mark.django_db
PATH = "/v1/presence/normalize-url"


def normalize(url: Any, api: Api | None = None, **options: Any) -> Answer:
    return (api or Api()).post(PATH, {"url": url}, **options)


def test_the_response_lists_rules_and_removed_parameters() -> None:
    response = normalize("http://WWW.Example.com:80/a/../b/index.html?utm_source=x&b=2&a=1#top")
    assert response.status == 200
    body = response.json
    assert body["normalizedUrl"] == "https://example.com/b?a=1&b=2"
    assert body["removedParams"] == ["utm_source"]
    assert body["rulesApplied"]
    assert body["pageId"].startswith("p1_")
    assert len(body["pageId"]) == 35


def versions_of_rows() -> list[tuple[str, str]]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT ctid::text, xmin::text FROM messaging_page")
        return cursor.fetchall()


def test_a_page_is_inserted_once_and_then_only_read() -> None:
    first = normalize("https://example.com/a")
    again = normalize("http://www.example.com/a/")
    assert first.json["pageId"] == again.json["pageId"]
    page = Page.objects.get()
    assert (page.pk, page.normalized_url) == (first.json["pageId"], first.json["normalizedUrl"])
    before = versions_of_rows()
    normalize("https://example.com/a")
    assert versions_of_rows() == before


def test_a_normalised_page_accepts_posts() -> None:
    page_id = normalize("https://example.com/a").json["pageId"]
    assert agent_with_token().api.post("/api/messages", {"pageId": page_id, "content": "Hi"}).status == 201


@pytest.mark.django_db(transaction=True)
def test_concurrent_requests_insert_a_page_once() -> None:
    responses = race(10, lambda _index: normalize("https://example.com/new"))
    assert {response.status for response in responses} == {200}
    assert Page.objects.count() == 1


INVALID = [
    *("example.com", "/path", "ftp://example.com/", "javascript:alert(1)", "https://", "http://[::1", "about:blank"),
    *("https://exa mple.com/", "https://example.com/\u0001", "https://example.com/\n", "https://example.com:99999/"),
    *("https://example.com/" + "a" * 2030, "https://e.example/" + "é" * 340, "data:text/html,x", "x" * 100_000),
]


def test_an_invalid_or_missing_url_is_400_and_inserts_no_page() -> None:
    for url in INVALID:
        assert (normalize(url).status, normalize(url).refusal) == (400, {"error": "invalid_url", "field": "url"}), url
    for body in ({}, {"url": None}, {"url": 5}, {"url": ""}, {"url": ["https://a.eu"]}, {"URL": "https://a.eu"}):
        response = Api().post(PATH, body)
        assert (response.status, response.refusal) == (400, {"error": "invalid_input", "field": "url"}), body
    assert not Page.objects.exists()


def test_the_error_names_the_cap_and_a_normalised_url_is_accepted() -> None:
    for url in ("https://e.example/" + "a" * 2_031, "https://e.example/" + "é" * 340):
        assert "longer than 2048 characters" in normalize(url).json["message"]
    first = normalize("https://e.example/" + "é" * 338)
    assert first.status == 200
    again = normalize(first.json["normalizedUrl"])
    assert (again.status, again.json["pageId"]) == (200, first.json["pageId"])


def test_requests_are_throttled_to_120_a_minute_per_address(settings: Any) -> None:
    assert settings.SOFT_THROTTLES["normalize_url"] == (120, 60)
    settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"normalize_url": (3, 60)}
    statuses = [normalize("https://example.com/", address="10.0.0.1").status for _ in range(5)]
    assert statuses == [200] * 3 + [429] * 2
    refused = normalize("https://example.com/", address="10.0.0.1")
    assert refused.error == "rate_limited"
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    assert normalize("https://example.com/", address="10.0.0.2").status == 200
