"""CORS: which origins may call which operation."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client, override_settings

from config.api.operations import all_operations
from tests.api import Api
from tests.embeds.making import EVENTS, INSTANCES, an_embed
from tests.factories import PageFactory, PersonFactory

pytestmark = pytest.mark.django_db

FOREIGN = "https://blog.example"
APP = "https://app.example"
ID = "01890a5d-ac96-774b-bcce-b302099a8057"
OPEN = {
    "listMessages",
    "getMessage",
    "listReactions",
    "getEmbedConfig",
    "getEmbedClientConfig",
    "ingestAnalyticsEvent",
    "normalizeUrl",
    "listSmartTags",
    "searchMessages",
    "getPresenceCounts",
    "listCommunities",
    "getCommunity",
    "listParticipants",
    "getAgent",
    "listChanges",
    "streamChanges",
    "getPageAtomFeed",
    "getPageJsonFeed",
    "getCommunityAtomFeed",
    "getCommunityJsonFeed",
}


@pytest.fixture(autouse=True)
def _app_origin() -> Any:
    with override_settings(APP_URL=APP):
        yield


def preflight(path: str, method: str, origin: str = FOREIGN, headers: str = "content-type") -> Any:
    sent = {"Origin": origin, "Access-Control-Request-Method": method, "Access-Control-Request-Headers": headers}
    return Client().options(path, headers=sent)


def routes() -> list[Any]:
    params = []
    for path, method, declared in all_operations():
        for name in ("id", "serviceId"):
            path = path.replace(f"<str:{name}>", ID)  # noqa: PLW2901
        params.append(pytest.param(f"/{path}", method, declared.id, id=declared.id))
    return params


def test_only_public_operations_allow_any_origin() -> None:
    assert {declared.id for _path, _method, declared in all_operations() if declared.any_origin} == OPEN


@pytest.mark.parametrize(("path", "method", "operation"), routes())
def test_preflight_allows_other_origins_for_public_operations_only(path: str, method: str, operation: str) -> None:
    response = preflight(path, method)
    assert (response.status_code, response.content) == (204, b"")
    assert response.headers["Vary"] == "Origin, Access-Control-Request-Method"
    assert "Access-Control-Allow-Credentials" not in response.headers
    if operation in OPEN:
        assert response.headers["Access-Control-Allow-Origin"] == "*"
        assert response.headers["Access-Control-Allow-Methods"] == method
        assert "authorization" not in response.headers["Access-Control-Allow-Headers"].lower()
        assert "content-type" in response.headers["Access-Control-Allow-Headers"].lower()
    else:
        assert not [name for name in response.headers if name.startswith("Access-Control-Allow")]
    own = preflight(path, method, APP)
    assert own.headers["Access-Control-Allow-Origin"] == APP
    for name in ("Authorization", "X-User-Id", "Idempotency-Key", "X-Service-Embed-Id"):
        assert name in own.headers["Access-Control-Allow-Headers"]


@pytest.mark.parametrize(("path", "method", "operation"), routes())
def test_other_origins_may_read_responses_of_public_operations_only(path: str, method: str, operation: str) -> None:
    """Most responses are errors here; their CORS headers have to be the same."""
    response = Api().send(method, path, headers={"Origin": FOREIGN})
    assert response.headers.get("Access-Control-Allow-Origin") == ("*" if operation in OPEN else None)
    assert "Access-Control-Allow-Credentials" not in response.headers
    own = Api().send(method, path, headers={"Origin": APP})
    assert own.headers["Access-Control-Allow-Origin"] == ("*" if operation in OPEN else APP)
    assert "Retry-After" in own.headers["Access-Control-Expose-Headers"]


def test_another_origin_may_read_posts_but_not_write_them() -> None:
    path = f"/api/messages?pageId={PageFactory().pk}"
    assert preflight(path, "GET").headers["Access-Control-Allow-Methods"] == "GET"
    assert "Access-Control-Allow-Origin" not in preflight(path, "POST", headers="authorization").headers
    assert Api().get(path, headers={"Origin": FOREIGN}).headers["Access-Control-Allow-Origin"] == "*"


@pytest.mark.parametrize("path", ["/nowhere", "/admin/", "/api/docs/", "/api/messages/x/y"])
def test_other_paths_have_no_cors_headers(path: str) -> None:
    for origin in (FOREIGN, APP):
        for response in (preflight(path, "GET", origin), Client().get(path, headers={"Origin": origin})):
            assert "Access-Control-Allow-Origin" not in response.headers


@pytest.mark.parametrize("method", ["PATCH", "OPTIONS", "dispatch", "", "__init__", "X" * 200])
def test_preflight_of_an_unknown_method_allows_nothing(method: str) -> None:
    assert "Access-Control-Allow-Methods" not in preflight("/api/messages", method).headers


def test_options_without_an_origin_is_405() -> None:
    assert Api().send("OPTIONS", "/api/messages").status == 405


@pytest.mark.parametrize("origin", ["null", f"{APP}.evil.net", APP.upper(), "http://app.example", f"{APP}:444"])
def test_origins_similar_to_the_app_are_not_allowed(origin: str) -> None:
    assert "Access-Control-Allow-Origin" not in preflight(INSTANCES, "GET", origin).headers
    response = Api.as_signed_in(PersonFactory()).get(INSTANCES, headers={"Origin": origin})
    assert "Access-Control-Allow-Origin" not in response.headers


def test_another_origin_may_send_analytics() -> None:
    event = {"serviceId": str(an_embed().pk), "event": "trigger_click", "pageUrl": f"{FOREIGN}/"}
    response = Api().post(EVENTS, event, content_type="text/plain", headers={"Origin": FOREIGN})
    assert (response.status, response.headers["Access-Control-Allow-Origin"]) == (201, "*")
