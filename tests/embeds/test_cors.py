"""CORS: which origins may call which operation."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client, override_settings

from kernel.api.operations import all_operations
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
    "getImportedPost",
    "listCommunities",
    "getCommunity",
    "getDiscussion",
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


def routes() -> list[tuple[str, str, str]]:
    """Return (path, method, id) of each operation."""
    found = []
    for path, method, declared in all_operations():
        for name in ("id", "serviceId"):
            path = path.replace(f"<str:{name}>", ID)  # noqa: PLW2901
        found.append((f"/{path}", method, declared.id))
    assert len(found) > 50
    return found


def test_only_public_operations_allow_any_origin() -> None:
    assert {declared.id for _path, _method, declared in all_operations() if declared.any_origin} == OPEN


def test_preflight_allows_other_origins_for_public_operations_only() -> None:
    for path, method, operation in routes():
        response = preflight(path, method)
        assert (response.status_code, response.content) == (204, b""), operation
        assert response.headers["Vary"] == "Origin, Access-Control-Request-Method", operation
        assert "Access-Control-Allow-Credentials" not in response.headers, operation
        if operation in OPEN:
            assert response.headers["Access-Control-Allow-Origin"] == "*", operation
            assert response.headers["Access-Control-Allow-Methods"] == method, operation
            assert "authorization" not in response.headers["Access-Control-Allow-Headers"].lower(), operation
            assert "content-type" in response.headers["Access-Control-Allow-Headers"].lower(), operation
        else:
            assert not [name for name in response.headers if name.startswith("Access-Control-Allow")], operation
        own = preflight(path, method, APP)
        assert own.headers["Access-Control-Allow-Origin"] == APP, operation
        for name in ("Authorization", "X-User-Id", "Idempotency-Key", "X-Service-Embed-Id"):
            assert name in own.headers["Access-Control-Allow-Headers"], operation


def test_other_origins_may_read_responses_of_public_operations_only() -> None:
    """Most responses are errors here; their CORS headers have to be the same."""
    for path, method, operation in routes():
        response = Api().send(method, path, headers={"Origin": FOREIGN})
        assert response.headers.get("Access-Control-Allow-Origin") == ("*" if operation in OPEN else None), operation
        assert "Access-Control-Allow-Credentials" not in response.headers, operation
        own = Api().send(method, path, headers={"Origin": APP})
        assert own.headers["Access-Control-Allow-Origin"] == ("*" if operation in OPEN else APP), operation
        assert "Retry-After" in own.headers["Access-Control-Expose-Headers"], operation


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


def test_preflight_of_an_unknown_method_allows_nothing() -> None:
    for method in ["PATCH", "OPTIONS", "dispatch", "", "__init__", "X" * 200]:
        assert "Access-Control-Allow-Methods" not in preflight("/api/messages", method).headers, method


def test_options_without_an_origin_is_405() -> None:
    assert Api().send("OPTIONS", "/api/messages").status == 405


def test_origins_similar_to_the_app_are_not_allowed() -> None:
    for origin in ["null", f"{APP}.evil.net", APP.upper(), "http://app.example", f"{APP}:444"]:
        assert "Access-Control-Allow-Origin" not in preflight(INSTANCES, "GET", origin).headers, origin
        response = Api.as_signed_in(PersonFactory()).get(INSTANCES, headers={"Origin": origin})
        assert "Access-Control-Allow-Origin" not in response.headers, origin


def test_another_origin_may_send_analytics() -> None:
    event = {"serviceId": str(an_embed().pk), "event": "trigger_click", "pageUrl": f"{FOREIGN}/"}
    response = Api().post(EVENTS, event, content_type="text/plain", headers={"Origin": FOREIGN})
    assert (response.status, response.headers["Access-Control-Allow-Origin"]) == (201, "*")
