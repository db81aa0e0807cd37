"""getEmbedConfig and getEmbedClientConfig."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from embeds.models import Embed
from embeds.services import disable_embed, update_embed
from embeds.widget.locales import words
from tests.agents.factories import agent_with_token
from tests.api import Api
from tests.embeds.making import UNKNOWN_ID, an_embed
from tests.factories import SuperAdminFactory

pytestmark = pytest.mark.django_db


def path_of(embed: Embed) -> str:
    return f"/api/embeds/config/{embed.pk}"


def test_config_has_its_fields_at_the_top_level_and_under_config(django_assert_num_queries: Any) -> None:
    embed = an_embed(domain_whitelist=["example.com"], blocked_words=["secret"], description="Not for readers")
    with django_assert_num_queries(1):
        response = Api().get(path_of(embed))
    fields = response.json["config"]
    assert response.status == 200
    assert response.json == fields | {"config": fields}
    assert fields == {
        "id": str(embed.pk),
        "communityId": str(embed.community_id),
        "domainWhitelist": ["example.com"],
        "pageRules": {"type": "all", "patterns": []},
        "triggerConfig": embed.trigger_config,
        "status": "active",
        "signIn": "service",
        "signInUrl": "",
    }
    assert response.headers["Cache-Control"] == "public, max-age=60, stale-while-revalidate=600"
    assert response.headers["Vary"] == "Origin"


@pytest.mark.parametrize(
    ("lang", "close", "color", "ink"), [("de", "Schließen", "#ff0", "#000"), ("en", "Close", "#123456", "#fff")]
)
def test_lang_adds_the_texts_of_the_loader_and_the_colour_of_text(lang: str, close: str, color: str, ink: str) -> None:
    embed = an_embed(trigger_config={"color": color})
    plain = Api().get(path_of(embed)).json
    response = Api().get(f"{path_of(embed)}?lang={lang}")
    assert response.json == plain | {"words": words(lang)["loader"], "ink": ink}
    assert response.json["words"]["close"] == close


def test_unknown_lang_is_400() -> None:
    for lang in ["", "xx", "DE", "de-AT", "de%00", "../en", "x" * 5000]:
        response = Api().get(f"{path_of(an_embed())}?lang={lang}")
        assert (response.status, response.error, response.json["field"]) == (400, "invalid_input", "lang"), lang


def test_etag_is_304_until_a_change_which_shows_at_once() -> None:
    embed = an_embed()
    etag = Api().get(path_of(embed)).headers["ETag"]
    for sent in (etag, f'"other", {etag}', f"W/{etag}", "*"):
        again = Api().get(path_of(embed), headers={"If-None-Match": sent})
        assert (again.status, again.body, again.headers["ETag"]) == (304, b"", etag)
        assert again.headers["Cache-Control"].startswith("public")
        assert again.headers["Access-Control-Allow-Origin"] == "*"
    update_embed(embed_id=embed.pk, owner=embed.owner, trigger_config={"message": "Now"})
    changed = Api().get(path_of(embed), headers={"If-None-Match": etag})
    assert (changed.status, changed.json["triggerConfig"]["message"]) == (200, "Now")
    assert changed.headers["ETag"] != etag


def test_head_returns_no_body() -> None:
    response = Client().head(path_of(an_embed()))
    assert (response.status_code, response.content) == (200, b"")


def test_origin_has_to_be_allowed_by_both_lists() -> None:
    for origin, status in [
        (None, 200),
        ("https://example.com", 200),
        ("http://www.example.com:8080", 200),
        ("https://blog.example.com", 403),
        ("https://example.com.evil.net", 403),
        ("https://bad.example.com", 403),
        ("null", 403),
        ("nonsense", 403),
    ]:
        embed = an_embed(domain_whitelist=["example.com", "*.example.org"], domain_blacklist=["bad.example.com"])
        response = Api().get(path_of(embed), headers={"Origin": origin} if origin else {})
        assert response.status == status, (origin, status)
        assert response.headers["Access-Control-Allow-Origin"] == "*", (origin, status)
        assert response.headers["Vary"] == ("Origin" if status == 200 else "Origin, Accept"), (origin, status)
        if status == 403:
            assert response.error == "domain_not_allowed", (origin, status)
            assert response.headers["Cache-Control"] == "no-store", (origin, status)
            assert "ETag" not in response.headers, (origin, status)


def test_change_of_the_blacklist_applies_at_once() -> None:
    embed = an_embed()
    origin = {"Origin": "https://example.com"}
    assert Api().get(path_of(embed), headers=origin).status == 200
    api = Api.as_signed_in(embed.owner)
    api.put(f"/api/embeds/instances/{embed.pk}/blacklist", {"domains": ["example.com"]})
    assert Api().get(path_of(embed), headers=origin).status == 403
    assert Api().get(path_of(embed)).status == 200


def test_config_shows_paused_and_disabled() -> None:
    embed = an_embed()
    update_embed(embed_id=embed.pk, owner=embed.owner, status="paused")
    assert Api().get(path_of(embed)).json["config"]["status"] == "paused"
    disable_embed(embed_id=embed.pk, by=SuperAdminFactory())
    assert Api().get(path_of(embed)).json["status"] == "disabled"


@pytest.mark.parametrize("unknown", [UNKNOWN_ID, "nothing", "%20", "x" * 300])
def test_unknown_embed_is_404(unknown: str) -> None:
    response = Api().get(f"/api/embeds/config/{unknown}")
    assert (response.status, response.error) == (404, "embed_not_found")
    assert response.headers["Access-Control-Allow-Origin"] == "*"


def test_valid_agent_token_may_read_and_an_invalid_one_is_401() -> None:
    embed = an_embed()
    assert agent_with_token().api.get(path_of(embed)).status == 200
    assert Api.as_agent("cag_nonsense").get(path_of(embed)).status == 401


def test_client_config_has_the_version_of_the_loader() -> None:
    version = Api().get("/api/embeds/client-config").json["loaderVersion"]
    assert f'version: "{version}"' in (settings.BASE_DIR / "static/embed/v1.js").read_text()


def test_client_config_lists_urls_and_events() -> None:
    response = Api().get("/api/embeds/client-config")
    assert response.headers["Cache-Control"] == "public, max-age=300"
    body = response.json
    assert list(body) == [
        "enabled",
        "apiUrl",
        "appUrl",
        "streamUrl",
        "loaderVersion",
        "analytics",
        "features",
        "pollSeconds",
    ]
    assert (body["enabled"], body["apiUrl"], body["appUrl"]) == (True, settings.BASE_URL, settings.APP_URL)
    assert body["analytics"] == {
        "enabled": True,
        "events": [
            "embed_load",
            "trigger_view",
            "trigger_click",
            "panel_open",
            "panel_close",
            "post_created",
            "reply_created",
            "reaction_added",
        ],
    }
