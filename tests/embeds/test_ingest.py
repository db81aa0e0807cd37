"""ingestAnalyticsEvent."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from django.db import connection

from embeds.analytics import ingest
from embeds.analytics.ingest import path_of
from embeds.models import Embed, EmbedStatus
from messaging.pages.page_ids import normalize
from tests.agents.factories import agent_with_token
from tests.api import Api
from tests.embeds.making import EVENTS, UNKNOWN_ID, an_embed, every_row, rows_of, send

pytestmark = pytest.mark.django_db
PAGE = "https://site.example/blog"


def event_of(embed: Embed, **fields: Any) -> dict[str, Any]:
    return {"serviceId": str(embed.pk), "event": "trigger_click", "pageUrl": PAGE} | fields


def raw_events() -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT day, event, path FROM embeds_event ORDER BY event, path")
        return list(cursor.fetchall())


@pytest.mark.parametrize("content_type", ["application/json", "text/plain", "text/plain;charset=UTF-8"])
def test_event_is_accepted_with_every_content_type_of_beacons(content_type: str) -> None:
    response = Api().post(EVENTS, event_of(an_embed()), content_type=content_type)
    assert (response.status, response.json) == (201, {"accepted": True})
    assert [row[1:] for row in raw_events()] == [("trigger_click", "/blog")]


def test_event_takes_four_queries(django_assert_num_queries: Any) -> None:
    embed, today = an_embed(), datetime.now(UTC).date()
    ingest.cached[today] = ingest.salt_of(today)
    with django_assert_num_queries(4):  # begin, the embed, the event, commit
        Api().post(EVENTS, event_of(embed))


def test_invalid_field_is_400_and_named() -> None:
    for fields, field in [
        ({"serviceId": 5}, "serviceId"),
        ({"serviceId": None}, "serviceId"),
        ({"event": ""}, "event"),
        ({"event": "Click"}, "event"),
        ({"event": "_other"}, "event"),
        ({"event": "1st"}, "event"),
        ({"event": "click\n"}, "event"),
        ({"event": "x" * 65}, "event"),
        ({"event": "clíck"}, "event"),
        ({"event": ["click"]}, "event"),
        ({"pageUrl": "/blog"}, "pageUrl"),
        ({"pageUrl": "javascript:alert(1)"}, "pageUrl"),
        ({"pageUrl": "https://"}, "pageUrl"),
        ({"pageUrl": PAGE + "x" * 2048}, "pageUrl"),
    ]:
        response = Api().post(EVENTS, event_of(an_embed(), **fields))
        assert (response.status, response.error, response.json["field"]) == (400, "invalid_input", field), fields
        assert not raw_events(), (fields, field)


@pytest.mark.parametrize("missing", ["serviceId", "event", "pageUrl"])
def test_missing_field_is_400_with_its_name(missing: str) -> None:
    body = event_of(an_embed())
    del body[missing]
    assert Api().post(EVENTS, body).json["field"] == missing


@pytest.mark.parametrize("content_type", ["application/x-www-form-urlencoded", "text/html", "multipart/form-data"])
def test_other_content_types_are_415(content_type: str) -> None:
    response = Api().post(EVENTS, event_of(an_embed()), content_type=content_type)
    assert (response.status, response.error) == (415, "unsupported_media_type")


def test_body_that_is_not_a_json_object_is_400() -> None:
    for raw in [b"", b"[]", b"null", b"{", b'{"event":"a","event":"b"}', b"\xff", b'"text"']:
        assert Api().post(EVENTS, raw=raw, content_type="text/plain").status == 400, raw


def test_body_over_8192_bytes_is_413() -> None:
    body = event_of(an_embed(), filler="")
    body["filler"] = "x" * (8192 - len(orjson.dumps(body)))
    assert Api().post(EVENTS, body).status == 201
    body["filler"] += "x"
    response = Api().post(EVENTS, body)
    assert (response.status, response.refusal) == (413, {"error": "payload_too_large", "field": "body", "max": 8192})


@pytest.mark.parametrize("unknown", [UNKNOWN_ID, "17", "{}"])
def test_unknown_embed_is_404(unknown: str) -> None:
    response = Api().post(EVENTS, event_of(an_embed(), serviceId=unknown))
    assert (response.status, response.error) == (404, "embed_not_found")


@pytest.mark.parametrize("status", [EmbedStatus.PAUSED, EmbedStatus.DISABLED])
def test_inactive_embed_is_403(status: EmbedStatus) -> None:
    embed = an_embed()
    Embed.objects.update(status=status)
    response = Api().post(EVENTS, event_of(embed))
    assert (response.status, response.error) == (403, "embed_not_active")


@pytest.mark.parametrize(
    ("url", "status"),
    [
        ("https://example.com/x", 201),
        ("http://www.example.com:8080/", 201),
        ("https://example.com.evil.net/", 403),
        ("https://example.com@evil.net/", 403),
        ("https://bad.example.com/", 403),
    ],
)
def test_domain_lists_apply_to_the_page_url(url: str, status: int) -> None:
    embed = an_embed(domain_whitelist=["example.com", "*.example.com"], domain_blacklist=["bad.example.com"])
    response = Api().post(EVENTS, event_of(embed, pageUrl=url), headers={"Origin": "https://elsewhere.example"})
    assert response.status == status
    assert status == 201 or response.error == "domain_not_allowed"


def test_agents_may_send_events_and_keys_of_anonymous_calls_are_ignored() -> None:
    embed = an_embed()
    assert agent_with_token().api.post(EVENTS, event_of(embed)).status == 201
    for _ in range(2):
        assert "Idempotent-Replayed" not in Api().post(EVENTS, event_of(embed), key="k").headers
    assert len(raw_events()) == 3


def test_path_is_normalised_as_in_page_ids() -> None:
    for url, path in [
        ("https://a.example", "/"),
        ("https://a.example/x/?q=secret#part", "/x"),
        ("https://a.example/x//y/../z/index.html", "/x/z"),
        ("https://a.example/#/route", "/"),
        ("https://a.example/caf%c3%a9", "/caf%C3%A9"),
        ("https://a.example/" + "x" * 511, "/" + "x" * 511),
        ("https://a.example/" + "x" * 512, "_other"),
    ]:
        assert path_of(normalize(url).normalized_url) == path, (url, path)


def test_database_stores_no_address_user_agent_or_query_string() -> None:
    embed = an_embed()
    headers = {"User-Agent": "Netscape/4.79 (Unlikely)", "Referer": "https://from.example/?ref=abc"}
    url = "https://me:pass@site.example/blog?email=jane%40doe.example&utm_source=letter#frag"
    response = Api().post(EVENTS, event_of(embed, pageUrl=url), headers=headers, address="203.0.113.77")
    assert response.status == 201
    rows = "\n".join(every_row())
    assert "/blog" in rows
    for trace in ("203.0.113.77", "203.0.113", "Netscape", "Unlikely", "jane", "utm_source", "frag", "from.example"):
        assert trace not in rows
    # Binary columns are hexadecimal in the text.
    assert b"203.0.113.77".hex() not in rows


def test_days_are_utc() -> None:
    embed = an_embed()
    send(embed, "last", datetime(2026, 3, 1, 23, 59, 59, 999000, tzinfo=UTC))
    send(embed, "next", datetime(2026, 3, 2, 0, 0, 0, tzinfo=UTC))
    assert [(day.isoformat(), event) for day, event, _path in raw_events()] == [
        ("2026-03-01", "last"),
        ("2026-03-02", "next"),
    ]


def test_soft_throttle_counts_events_by_address(settings: Any) -> None:
    settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"ingest": (3, 60)}
    embed = an_embed()
    responses = [Api().post(EVENTS, event_of(embed)) for _ in range(4)]
    assert [response.status for response in responses] == [201, 201, 201, 429]
    assert responses[3].error == "rate_limited"
    assert int(responses[3].headers["Retry-After"]) >= 1
    assert Api().post(EVENTS, event_of(embed), address="192.0.2.9").status == 201
    assert rows_of("embeds_event") == 4
