"""getPresenceCounts: POST /v1/presence/counts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from messaging.models import MessageStatus, Page
from messaging.pages.page_ids import normalize
from tests.agents.factories import agent_with_token
from tests.api import Api
from tests.factories import MessageFactory, PageFactory

pytestmark = pytest.mark.django_db
PATH = "/v1/presence/counts"
START = datetime(2026, 11, 1, tzinfo=UTC)


def counts(*urls: str) -> list[Any]:
    answer = Api().post(PATH, {"urls": list(urls)})
    assert answer.status == 200, answer.json
    counted: list[Any] = answer.json["counts"]
    return counted


def test_published_posts_and_replies_are_counted_in_the_order_asked() -> None:
    page, other = PageFactory(url="https://example.com/a"), PageFactory(url="https://example.com/b")
    post = MessageFactory(page=page, created_at=START)
    MessageFactory(page=page, created_at=START + timedelta(minutes=1), status=MessageStatus.PENDING)
    MessageFactory(parent=post, created_at=START + timedelta(minutes=2))
    MessageFactory(page=other, created_at=START)
    first, second = counts("https://www.example.com/b?utm_source=x#top", "http://example.com/a/")
    assert first == {
        "url": "https://www.example.com/b?utm_source=x#top",
        "pageId": other.pk,
        "posts": 1,
        "replies": 0,
        "lastPostAt": "2026-11-01T00:00:00Z",
    }
    assert second == {
        "url": "http://example.com/a/",
        "pageId": page.pk,
        "posts": 1,
        "replies": 1,
        "lastPostAt": "2026-11-01T00:02:00Z",
    }


def test_a_url_that_is_given_twice_is_answered_twice() -> None:
    MessageFactory(page=PageFactory(url="https://example.com/a"))
    answered = counts("https://example.com/a", "https://example.com/a#x", "https://example.com/a")
    assert [(each["url"], each["posts"]) for each in answered] == [
        ("https://example.com/a", 1),
        ("https://example.com/a#x", 1),
        ("https://example.com/a", 1),
    ]


def test_an_unusable_url_has_no_page() -> None:
    urls = ["", " ", "x", "ftp://example.com/", "javascript:alert(1)", "https://", "h" * 5_000]
    nothing = {"pageId": None, "posts": 0, "replies": 0, "lastPostAt": None}
    assert counts(*urls) == [{"url": url} | nothing for url in urls]


def test_a_page_that_is_not_stored_has_an_id_and_no_posts() -> None:
    url = "https://example.com/nobody-was-here"
    expected = {"url": url, "pageId": normalize(url).page_id, "posts": 0, "replies": 0, "lastPostAt": None}
    assert counts(url) == [expected]
    assert not Page.objects.exists()


def test_nothing_is_written_and_no_key_is_stored() -> None:
    holder = agent_with_token()
    body = {"urls": ["https://example.com/a", "https://example.com/b"]}
    with CaptureQueriesContext(connection) as captured:
        first = Api().post(PATH, body)
    assert (first.status, len(captured)) == (200, 1)
    assert captured[0]["sql"].lstrip().startswith("SELECT")
    for _ in range(2):
        again = holder.api.post(PATH, body, key="a key")
        assert (again.status, again.body) == (200, first.body)
        assert "Idempotent-Replayed" not in again.headers
    assert "ETag" not in first.headers


def test_a_hundred_urls_take_one_query(django_assert_num_queries: Any) -> None:
    urls = [f"https://example.com/{n}" for n in range(100)]
    for url in urls[:20]:
        MessageFactory(parent=MessageFactory(page=PageFactory(url=url)))
    for count in (1, 100):
        with django_assert_num_queries(1):
            answered = counts(*urls[:count])
    assert [(each["posts"], each["replies"]) for each in answered] == [(1, 1)] * 20 + [(0, 0)] * 80


def test_no_usable_url_takes_no_query(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        assert counts() == []
        assert counts("x")[0]["pageId"] is None


def test_an_invalid_body_is_400() -> None:
    url = "https://example.com/"
    for urls in (None, url, [1], [None], [[url]], {"0": url}, [url] * 101):
        assert (Api().post(PATH, {"urls": urls}).status, Api().post(PATH, {"urls": urls}).error) == (
            400,
            "invalid_input",
        )
    for body in ({}, [], "x"):
        assert (Api().post(PATH, body).status, Api().post(PATH, body).error) == (400, "invalid_input")


def test_a_page_of_another_origin_may_call_it() -> None:
    answer = Api().post(PATH, {"urls": []}, headers={"Origin": "https://blog.example"})
    assert (answer.status, answer.headers["Access-Control-Allow-Origin"]) == (200, "*")
