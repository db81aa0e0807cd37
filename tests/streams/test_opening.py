"""GET /v1/changes/stream in a worker, and where streams are announced."""

from __future__ import annotations

import runpy
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client

from config import settings as settings_module
from tests.api import Api

pytestmark = pytest.mark.django_db
STREAM = "/v1/changes/stream"
ELSEWHERE = "https://streams.example"


def test_a_worker_redirects_with_the_query(settings: Any) -> None:
    settings.STREAM_URL = ELSEWHERE
    answer = Api().get(
        f"{STREAM}?types=message.created&cursor=" + Api().get("/v1/changes?types=message.created").json["nextCursor"]
    )
    assert (answer.status, answer.json) == (307, {"streamUrl": ELSEWHERE})
    assert answer.headers["Location"].startswith(f"{ELSEWHERE}{STREAM}?types=message.created&cursor=")
    assert answer.headers["Cache-Control"] == "no-store"


def test_a_proxy_that_passes_streams_to_a_worker_gets_no_loop(settings: Any) -> None:
    settings.STREAM_URL = settings.BASE_URL
    answer = Api().get(STREAM)
    assert (answer.status, answer.error) == (503, "temporarily_unavailable")


def test_without_streams_there_is_no_address(settings: Any) -> None:
    settings.STREAM_URL = None
    assert (Api().get(STREAM).status, Api().get(STREAM).error) == (403, "streams_disabled")
    assert Api().get("/api/embeds/client-config").json["streamUrl"] is None
    assert Client().get("/", headers={"Accept": "application/json"}).json()["streamUrl"] is None
    assert "/v1/changes/stream" not in Client().get("/").content.decode()


def test_a_worker_refuses_what_the_list_refuses() -> None:
    for query in ["cursor=x", "cursor=", f"cursor={'A' * 56}", "types=x", "pageId=x", "communityId=x"]:
        listed, streamed = Api().get(f"/v1/changes?{query}"), Api().get(f"{STREAM}?{query}")
        assert (streamed.status, streamed.refusal, streamed.json["message"]) == (
            listed.status,
            listed.refusal,
            listed.json["message"],
        ), query
        assert streamed.status == 400, query


def test_the_start_page_as_json_names_the_streams(settings: Any) -> None:
    settings.STREAM_URL = ELSEWHERE
    assert Client().get("/", headers={"Accept": "application/json"}).json()["streamUrl"] == ELSEWHERE


def test_the_panel_may_connect_to_the_streams(settings: Any) -> None:
    from tests.embeds.making import an_embed

    settings.STREAM_URL = ELSEWHERE
    policy = Client().get(f"/embed/panel?serviceId={an_embed().pk}").headers["Content-Security-Policy"]
    assert f"connect-src 'self' {ELSEWHERE};" in policy


def test_a_time_between_heartbeats_that_ends_connections_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for seconds in ["0", "31", "60"]:
        monkeypatch.setenv("STREAM_HEARTBEAT_SECONDS", seconds)
        with pytest.raises(ImproperlyConfigured, match=r"STREAM_HEARTBEAT_SECONDS is .*from 1 to 30\."):
            runpy.run_path(settings_module.__file__)
