"""Responses of the widget's pages: headers, policies, languages."""

from __future__ import annotations

import gzip
import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from config import env
from embeds.domains import InvalidDomain, normalize_entry
from embeds.models import Embed
from embeds.widget.context import frame_ancestors, policy, with_streams
from embeds.widget.demo import app_origin
from embeds.widget.views import COMMUNITIES_MAX
from tests.embeds.making import an_embed
from tests.factories import CommunityFactory, PageFactory

pytestmark = pytest.mark.django_db
PAGES = ["/", "/demo/", "/embed/sign-in"]


def directives(response: Any) -> dict[str, str]:
    parts = response.headers["Content-Security-Policy"].split("; ")
    return {name: value for name, _, value in (part.partition(" ") for part in parts)}


def panel(client: Client, embed: Embed, *, host: str | None = None, **headers: str) -> Any:
    """`host`: the host that the loader sends."""
    query = {"serviceId": str(embed.pk)} | ({} if host is None else {"host": host})
    return client.get("/embed/panel", query, headers=headers)


def test_loader_has_cache_headers_gzip_and_no_comments(client: Client) -> None:
    plain = client.get("/embed/v1.js")
    gzipped = client.get("/embed/v1.js", headers={"Accept-Encoding": "br, gzip"})
    assert plain.headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert gzipped.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(gzipped.content) == plain.content
    assert plain.headers["Cache-Control"].startswith("public, max-age=3600")
    assert plain.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert plain.headers["ETag"] != gzipped.headers["ETag"]
    again = client.get("/embed/v1.js", headers={"If-None-Match": plain.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert b"/*" not in plain.content
    assert b"\n//" not in plain.content


def test_panel_page_is_gzipped_without_padding(client: Client) -> None:
    embed = an_embed()
    gzipped = [panel(client, embed, **{"Accept-Encoding": "gzip"}).content for _ in range(5)]
    assert len({len(content) for content in gzipped}) == 1
    assert gzip.decompress(gzipped[0]) == panel(client, embed).content


def test_pages_have_a_strict_policy_and_set_no_cookie(client: Client) -> None:
    for path in PAGES:
        response = client.get(path)
        assert response.status_code == 200
        assert "unsafe" not in response.headers["Content-Security-Policy"]
        sent = directives(response)
        assert (sent["default-src"], sent["frame-ancestors"], sent["base-uri"]) == ("'none'",) * 3
        assert response.headers["X-Frame-Options"] == "DENY"
        assert "Set-Cookie" not in response.headers


def test_other_methods_than_get_and_head_are_405_and_head_has_the_status_of_get(client: Client) -> None:
    for path in (*PAGES, "/embed/v1.js", "/embed/panel", "/demo", "/admin"):
        for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"):
            refused = Client(enforce_csrf_checks=True).generic(method, path)
            assert (refused.status_code, refused.json()["error"]) == (405, "method_not_allowed"), (method, path)
            assert (refused.headers["Allow"], refused.headers["Content-Type"]) == ("GET, HEAD", "application/json")
        status = client.head(path).status_code
        assert status == client.get(path).status_code
        # The panel needs an embed.
        assert (status < 400) is (path != "/embed/panel")


def test_panel_policy_is_strict_and_allows_frames(client: Client) -> None:
    response = panel(client, an_embed())
    assert "unsafe" not in response.headers["Content-Security-Policy"]
    assert directives(response)["script-src"] == "'self'"
    assert directives(response)["require-trusted-types-for"] == "'script'"
    assert "X-Frame-Options" not in response.headers
    assert "Set-Cookie" not in response.headers


def test_frame_ancestors_follow_the_whitelist(client: Client) -> None:
    embed = an_embed()
    for whitelist, ancestors in (
        ([], "http: https:"),
        (["example.com"], "http://example.com:* http://www.example.com:*"),
        (["*.example.com"], "http://*.example.com:*"),
        (["example.com:8080"], "http://example.com:8080 http://www.example.com:8080"),
    ):
        embed.domain_whitelist = whitelist
        embed.save()
        assert directives(panel(client, embed))["frame-ancestors"] == ancestors


def test_frame_ancestors_of_a_long_whitelist_are_the_embedding_host(client: Client) -> None:
    embed = an_embed(domain_whitelist=[f"site-{n}.example" for n in range(1000)])
    assert directives(panel(client, embed, host="site-7.example"))["frame-ancestors"] == "http://site-7.example"
    assert directives(panel(client, embed))["frame-ancestors"] == "'none'"
    assert directives(panel(client, embed, host="evil.example"))["frame-ancestors"] == "'none'"


FRAMING = ("good.example", "good.example:8080", "[::1]:8080", "good.example:443")
NOT_FRAMING = ("bad.example", "www.bad.example", "bad.example:8080", "*.example", "*", "null", "", "GOOD.example")
NO_HOSTS = (
    "good.example bad.example",
    "good.example/x",
    "a.com;script-src",
    "a.com,b.com",
    "'self'",
    "good.example\x00",
)


def test_frame_ancestors_with_a_blacklist_are_the_embedding_host(client: Client) -> None:
    embed = an_embed(domain_blacklist=["bad.example"])
    ancestors = {host: f"http://{host}" for host in FRAMING} | dict.fromkeys((*NOT_FRAMING, *NO_HOSTS), "'none'")
    assert {host: directives(panel(client, embed, host=host))["frame-ancestors"] for host in ancestors} == ancestors


def test_frame_ancestors_do_not_depend_on_a_referer(client: Client) -> None:
    referers: list[dict[str, str]] = [{}, {"Referer": "https://good.example/"}, {"Referer": "https://bad.example/"}]
    for whitelist in ([], ["*.example"]):
        embed = an_embed(domain_whitelist=whitelist, domain_blacklist=["bad.example"])
        for host in (None, "good.example", "bad.example"):
            sent = {directives(panel(client, embed, host=host, **each))["frame-ancestors"] for each in referers}
            assert sent == {"http://good.example" if host == "good.example" else "'none'"}


def test_stored_entry_that_is_not_a_host_is_left_out_of_the_policy(client: Client) -> None:
    embed = an_embed(domain_whitelist=["example.com"])
    for stored in ("a.com,b.com", "a.com;script-src *", "'self'", "$", "https:", "*", "a.com b.com"):
        good = [stored, "good.com"]
        for entries, ancestors in ([stored], "'none'"), (good, "http://good.com:* http://www.good.com:*"):
            Embed.objects.filter(pk=embed.pk).update(domain_whitelist=entries)
            response = panel(client, embed)
            assert directives(response)["frame-ancestors"] == ancestors, stored
            expected = policy(frame_ancestors=ancestors, connect_src=with_streams())
            assert response.headers["Content-Security-Policy"] == expected


def test_panel_may_connect_to_the_origin_of_the_streams_only(client: Client, settings: Any) -> None:
    embed = an_embed()
    # A policy cannot contain an IPv6 address.
    for url, sources in (
        ("https://streams.example", "'self' https://streams.example"),
        ("http://127.0.0.1:8001", "'self' http://127.0.0.1:8001"),
        ("http://[::1]:8001", "'self' http:"),
        ("https://[2001:db8::1]", "'self' https:"),
        (None, "'self'"),
    ):
        settings.STREAM_URL = url
        response = panel(client, embed)
        assert directives(response)["connect-src"] == sources
        assert data_of(response)["settings"]["streamUrl"] == url


def test_panel_polls_as_often_as_the_client_config_tells(client: Client) -> None:
    told = client.get("/api/embeds/client-config").json()["pollSeconds"]
    assert data_of(panel(client, an_embed()))["settings"]["pollSeconds"] == told


def data_of(response: Any) -> Any:
    """The JSON data of the panel's scripts."""
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', response.content.decode(), re.DOTALL)
    assert found
    return json.loads(found[1])


ENTRIES = st.text("ab.*:80[]-_;,'$ xé\t\n%", max_size=12) | st.text(max_size=12)


@given(st.lists(ENTRIES, max_size=4), ENTRIES)
def test_no_entry_or_host_changes_the_structure_of_the_policy(texts: list[str], host: str) -> None:
    accepted = []
    for text in texts:
        with suppress(InvalidDomain):
            accepted.append(normalize_entry(text))
    for lists in (accepted, []), (accepted, ["x.example"]), (texts, []):
        embed = Embed(domain_whitelist=lists[0], domain_blacklist=lists[1])
        ancestors = frame_ancestors(embed, host)
        assert re.fullmatch(r"'none'|http: https:|http://[a-z0-9._*:\[\]-]+( http://[a-z0-9._*:\[\]-]+)*", ancestors)


def test_panel_says_whether_it_was_requested_with_the_cookie_of_a_session(client: Client) -> None:
    """The page does not look the session up, and no cache may return it for another cookie."""
    embed = an_embed()
    for cookies, has_session in (
        ("", False),
        ("sessionid=x", False),
        ("__Host-panel=x", True),
        ("__Host-panel=", False),
    ):
        response = panel(client, embed, Cookie=cookies)
        assert data_of(response)["settings"]["hasSession"] is has_session
        assert "Cookie" in response.headers["Vary"]
        assert response.headers["Cache-Control"] == "private, no-cache"
        assert "Set-Cookie" not in response.headers
        assert not response.cookies


def test_panel_of_an_unknown_or_inactive_embed_is_404(client: Client) -> None:
    for service_id in ("", "nonsense", "01a1f80d-317e-70be-95e8-1b2720202b76", "\x00", "x" * 3000):
        response = client.get("/embed/panel", {"serviceId": service_id})
        assert response.status_code == 404
        assert b"This discussion is not available" in response.content
    embed, other = an_embed(), an_embed()
    for status, code in (("active", 200), ("paused", 404), ("disabled", 404)):
        Embed.objects.filter(pk=embed.pk).update(status=status)
        assert panel(client, embed).status_code == code
        assert panel(client, other).status_code == 200


def test_language_is_that_of_the_query_then_accept_language(client: Client) -> None:
    for query, accept, lang, direction in (
        ("de", "", "de", "ltr"),
        ("ar-EG", "", "ar", "rtl"),
        ("xx", "fr-CH, fr;q=0.9, en;q=0.8", "fr", "ltr"),
        ("", "en;q=0.5, ja;q=0.9", "ja", "ltr"),
        ("pt_BR", "", "pt", "ltr"),
        ("", "de; q=0.8, ja ;q=0.9, en; q=0.5", "ja", "ltr"),
        ("", "", "en", "ltr"),
        ('"><script>', ";;q=,*;q=x,\x7f", "en", "ltr"),
    ):
        response = client.get("/embed/sign-in", {"lang": query}, headers={"Accept-Language": accept})
        assert f'<html lang="{lang}" dir="{direction}">'.encode() in response.content, (query, accept)


def test_closed_registration_has_no_form(client: Client, settings: Any) -> None:
    settings.REGISTRATION_OPEN = False
    assert b'id="register"' not in client.get("/embed/sign-in").content


def test_json_in_the_page_cannot_end_its_script_element(client: Client) -> None:
    page = panel(client, an_embed(trigger_config={"message": "</script><script>x"})).content.decode()
    blocks = re.findall(r"<script[^>]*>(.*?)</script>", page, re.DOTALL)
    assert len(blocks) == 2
    assert json.loads(blocks[0])["words"]["panel"]["send"] == "Post"


def test_demo_page_and_its_widget_have_different_origins(settings: Any) -> None:
    settings.APP_URL = "http://127.0.0.1:8000"
    assert app_origin("localhost:8000", secure=False) == "http://127.0.0.1:8000"
    assert app_origin("127.0.0.1:8000", secure=False) == "http://localhost:8000"
    assert app_origin("other.test", secure=False) == "http://127.0.0.1:8000"


def test_demo_page_without_data_names_the_command(client: Client, settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    assert b"manage.py demo" in client.get("/demo/").content


def test_demo_page_names_the_feeds_of_its_page(client: Client, settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR, settings.BASE_URL = tmp_path, "https://service.example"
    page = PageFactory()
    facts = {"embedId": "01890a5d-ac96-774b-bcce-b302099a8057", "pageUrl": page.normalized_url}
    (tmp_path / "demo.json").write_text(json.dumps(facts))
    links = re.findall(
        r'<link rel="alternate" type="([^"]+)"[^>]* href="([^"]+)"', client.get("/demo/").content.decode()
    )
    feed = f"https://service.example/feeds/pages/{page.pk}"
    assert [url for _type, url in links] == [f"{feed}.atom", f"{feed}.json"]
    for media_type, url in links:
        assert client.get(url.removeprefix(settings.BASE_URL)).headers["Content-Type"] == media_type


def test_start_page_links_to_every_part(client: Client) -> None:
    hrefs = set(re.findall(r'href="([^"]*)"', client.get("/").content.decode()))
    assert {"/demo/", "/api/docs/", "/api/redoc/", "/api/schema/", "/admin/"} <= hrefs
    for href in hrefs:
        if href.startswith("/") and not href.startswith("/static/"):
            assert client.get(href).status_code in (200, 302), href


LEGAL = {name: f"https://example.com/{name[:3].lower()}" for name in ("IMPRINT_URL", "TERMS_URL", "PRIVACY_URL")}


def test_start_page_without_the_demo_is_about_this_service(
    client: Client, settings: Any, django_assert_num_queries: Any
) -> None:
    settings.DEMO, settings.SERVICE_NAME, settings.BASE_URL = False, "News & Talk", "https://talk.example"
    for name, url in LEGAL.items():
        setattr(settings, name, url)
    assert "There is no community yet." in client.get("/").content.decode()
    CommunityFactory(name="Open <b>", slug="open")
    CommunityFactory(name="People", slug="people", agents_may_post=False, pre_moderation="everyone")
    CommunityFactory(name="Closed", slug="closed", read_only=True)
    with django_assert_num_queries(1):
        text = client.get("/").content.decode()
    assert "<title>News &amp; Talk</title>" in text
    for said in (
        "talk.example",
        "Open &lt;b&gt;",
        "People and agents may post.",
        "Only people may post. Moderators read each post before it is shown.",
        "Closed for new posts.",
        "/feeds/communities/closed.atom",
        "Everybody may open an account.",
        "You may create a community for it.",
        *LEGAL.values(),
    ):
        assert said in text, said
    for absent in ("/demo/", "make run", "Run it yourself", "There are more communities."):
        assert absent not in text, absent
    settings.REGISTRATION_OPEN, settings.COMMUNITY_CREATION, settings.EDIT_MINUTES = False, "closed", 0
    for n in range(COMMUNITIES_MAX):
        CommunityFactory(name=f"Many {n}", slug=f"many-{n}")
    text = client.get("/").content.decode()
    for said in (
        "opened by the operator",
        "created by the operator",
        "cannot be edited",
        "There are more communities.",
    ):
        assert said in text, said
    assert "/account/sign-up/" not in text
    assert text.count("/feeds/communities/") == COMMUNITIES_MAX


def test_pages_of_the_account_area_link_to_the_legal_pages_that_are_set(client: Client, settings: Any) -> None:
    assert "<footer" not in client.get("/account/sign-in/").content.decode()
    settings.TERMS_URL = "https://example.com/terms"
    text = client.get("/account/sign-in/").content.decode()
    assert '<a href="https://example.com/terms">Terms</a>' in text
    assert "Imprint" not in text


@pytest.mark.parametrize("value", ["example.com/terms", "javascript:alert(1)", "https://example.com/a b"])
def test_a_legal_page_that_is_no_address_stops_the_start(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("TERMS_URL", value)
    with pytest.raises(ImproperlyConfigured, match="TERMS_URL"):
        env.link("TERMS_URL")
