"""The addresses of the service, the OpenAPI document and the well-known documents."""

from __future__ import annotations

import json
import re
import zipfile
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from io import BytesIO
from typing import Any
from urllib.robotparser import RobotFileParser

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client

from config import env
from config.version import VERSION
from kernel.api.operations import all_operations
from kernel.discovery.client import install_command, wheel
from kernel.discovery.texts import security_txt
from tests.service import ROOT

pytestmark = pytest.mark.django_db
SOURCES = ROOT / "clients/python/src"
DOCUMENTS = ["/llms.txt", "/skill.md", "/robots.txt", "/openapi.json", "/.well-known/api-catalog", "/api/schema/"]
DOCUMENTS += ["/.well-known/mcp.json", "/.well-known/agent-skills/index.json"]


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        ("text/html,application/xhtml+xml,*/*;q=0.8", "text/html; charset=utf-8"),
        ("application/json", "application/json"),
        ("text/markdown", "text/markdown; charset=utf-8"),
        ("text/markdown, text/html;q=0.7, */*;q=0.5", "text/markdown; charset=utf-8"),
        ("*/*", "text/html; charset=utf-8"),
    ],
)
def test_the_start_page_has_the_form_that_the_client_prefers(client: Client, accept: str, media_type: str) -> None:
    answer = client.get("/", headers={"Accept": accept})
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, media_type)
    assert answer.headers["Vary"] == ("Accept, Accept-Language" if "html" in media_type else "Accept")
    assert answer.headers["Link"] == (
        '</openapi.json>; rel="service-desc", </llms.txt>; rel="service-doc", '
        '</.well-known/api-catalog>; rel="api-catalog"'
    )


def test_the_addresses_are_served(client: Client, settings: Any) -> None:
    addresses = client.get("/", headers={"Accept": "application/json"}).json()
    assert addresses["name"]
    assert addresses["version"]
    assert addresses["apiUrl"] == settings.BASE_URL
    for name in ("docs", "openapi", "llms", "skill"):
        path = addresses[name].removeprefix(settings.BASE_URL)
        assert client.get(path).status_code == 200, name
    assert client.get(addresses["whoami"].removeprefix(settings.BASE_URL)).status_code == 401


def test_openapi_json_is_the_schema_on_one_line(client: Client) -> None:
    document = client.get("/openapi.json")
    assert document.headers["Content-Type"] == "application/json"
    assert b"\n" not in document.content
    assert document.json() == client.get("/api/schema/", headers={"Accept": "application/json"}).json()
    # `Accept` has no effect on an address that names its form.
    assert client.get("/openapi.json", headers={"Accept": "text/html"}).content == document.content


@pytest.mark.parametrize("path", [*DOCUMENTS, "/"])
def test_a_page_of_any_origin_may_ask_for_a_document_in_a_preflight(client: Client, path: str) -> None:
    def preflight(method: str) -> Any:
        sent = {"Origin": "https://any.example", "Access-Control-Request-Method": method}
        return client.options(path, headers=sent | {"Access-Control-Request-Headers": "x-trace"})

    answer = preflight("GET")
    assert (answer.status_code, answer.headers["Access-Control-Allow-Origin"]) == (204, "*")
    assert answer.headers["Access-Control-Allow-Methods"] == "GET"
    assert "Access-Control-Allow-Origin" not in preflight("POST").headers


def test_a_page_has_no_cors() -> None:
    sent = {"Origin": "https://any.example", "Access-Control-Request-Method": "GET"}
    assert "Access-Control-Allow-Origin" not in Client().options("/demo", headers=sent).headers


def test_robots_may_read_what_the_texts_for_agents_name(client: Client, settings: Any) -> None:
    robots = RobotFileParser()
    robots.parse(client.get("/robots.txt").content.decode().splitlines())
    texts = "".join(client.get(path).content.decode() for path in ("/llms.txt", "/skill.md"))
    reads = set(re.findall(r"GET (" + re.escape(settings.BASE_URL) + r"[\w./?=-]+)\n(?!Authorization)", texts))
    public = {
        f"/{path}"
        for path, method, operation in all_operations()
        if method == "GET" and operation.is_public_read and operation.event is None
    }
    assert f"{settings.BASE_URL}/api/messages?pageId=PAGE_ID" in reads
    for url in [*reads, *(path.partition("<")[0] for path in public)]:
        assert robots.can_fetch("an-agent", url), url
    for path in ("/admin/", "/v1/agent/self", "/v1/inbox", "/v1/changes/stream", "/api/auth/me", "/embed/x"):
        assert not robots.can_fetch("an-agent", path), path


@pytest.mark.parametrize("path", DOCUMENTS)
def test_documents_are_public_and_revalidate(client: Client, path: str) -> None:
    first = client.get(path)
    assert first.status_code == 200
    assert first.headers["Access-Control-Allow-Origin"] == "*"
    again = client.get(path, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get(path, headers={"If-None-Match": '"another"'}).status_code == 200
    assert client.head(path).content == b""
    assert client.post(path).status_code == 405


def test_the_catalog_links_to_what_is_served(client: Client, settings: Any) -> None:
    answer = client.get("/.well-known/api-catalog")
    assert answer.headers["Content-Type"].startswith("application/linkset+json")
    assert answer.headers["Link"] == '</.well-known/api-catalog>; rel="api-catalog"'
    catalog, api = answer.json()["linkset"]
    assert catalog["item"] == [{"href": api["anchor"]}]
    for relation in ("service-desc", "service-doc", "service-meta"):
        for link in api[relation]:
            served = client.get(link["href"].removeprefix(settings.BASE_URL), headers={"Accept": link["type"]})
            assert served.status_code == 200, link


def test_the_card_of_the_mcp_server_says_where_and_how_to_connect(client: Client) -> None:
    card = client.get("/.well-known/mcp.json").json()
    assert card["serverInfo"] == {"name": "community-messaging", "title": "Community Messaging", "version": VERSION}
    assert card["transport"] == {"type": "streamable-http", "endpoint": "/mcp"}
    assert card["authentication"]["required"] is False
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    opened = client.post(card["transport"]["endpoint"], message, content_type="application/json")
    assert opened.json()["result"]["instructions"].startswith(card["instructions"])


def test_the_entry_for_registries_names_this_version_and_fits_their_limits() -> None:
    entry = json.loads((ROOT / "clients/mcp/server.json").read_text())
    assert entry["version"] == VERSION
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"])
    assert len(entry["description"]) <= 100
    (remote,) = entry["remotes"]
    assert (remote["type"], remote["url"]) == ("streamable-http", "https://{host}/mcp")
    assert set(remote["variables"]) == {"host"}
    assert remote["headers"][0]["isSecret"]


def test_the_index_of_skills_has_the_digest_of_what_it_leads_to(client: Client, settings: Any) -> None:
    (skill,) = client.get("/.well-known/agent-skills/index.json").json()["skills"]
    served = client.get(skill["url"].removeprefix(settings.BASE_URL)).content
    assert skill["digest"] == f"sha256:{sha256(served).hexdigest()}"
    assert f"name: {skill['name']}\ndescription: {skill['description']}\n" in served.decode()
    assert (skill["type"], skill["name"]) == ("skill-md", "community-messaging")


def test_the_wheel_of_the_client_is_the_same_in_every_process_and_has_its_command(client: Client) -> None:
    name = "community_messaging_client-1.0.0-py3-none-any.whl"
    served = client.get(f"/clients/python/{name}")
    assert served.headers["Content-Type"] == "application/zip"
    archive = zipfile.ZipFile(BytesIO(served.content))
    sources = {str(file.relative_to(SOURCES)) for file in SOURCES.rglob("*.py")}
    assert sources <= set(archive.namelist())
    entries = archive.read("community_messaging_client-1.0.0.dist-info/entry_points.txt")
    assert b"cm=community_messaging.cli:main" in entries
    wheel.cache_clear()
    assert wheel() == (name, served.content)
    assert client.get(f"/clients/python/{name}", headers={"If-None-Match": served.headers["ETag"]}).status_code == 304
    for other in ("community_messaging_client-0.9.0-py3-none-any.whl", "pyproject.toml", "..%2Fpyproject.toml"):
        assert client.get(f"/clients/python/{other}").status_code == 404, other
    assert client.post(f"/clients/python/{name}").status_code == 405
    assert install_command() in client.get("/skill.md").content.decode()


class TestContentSignal:
    def test_is_that_of_the_setting(self, client: Client, settings: Any) -> None:
        lines = client.get("/robots.txt").content.decode().splitlines()
        assert f"Content-Signal: {settings.CONTENT_SIGNAL}" in lines
        assert lines.index("User-agent: *") < lines.index(f"Content-Signal: {settings.CONTENT_SIGNAL}")

    def test_has_known_preferences_only(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for value in ("search=maybe", "train=no", "search=yes,", "search=yes\nAllow: /", "ai-train"):
            monkeypatch.setenv("CONTENT_SIGNAL", value)
            with pytest.raises(ImproperlyConfigured, match="CONTENT_SIGNAL"):
                env.content_signal("CONTENT_SIGNAL", "")
        monkeypatch.setenv("CONTENT_SIGNAL", "ai-train=no, search=yes")
        assert env.content_signal("CONTENT_SIGNAL", "") == "ai-train=no, search=yes"


class TestSecurityTxt:
    def test_names_the_contact_for_less_than_a_year(self, client: Client, settings: Any) -> None:
        settings.SECURITY_CONTACT = ""
        assert client.get("/.well-known/security.txt").status_code == 404
        settings.SECURITY_CONTACT = "mailto:security@example.com"
        lines = dict(
            line.split(": ", 1) for line in client.get("/.well-known/security.txt").content.decode().split("\n") if line
        )
        assert lines["Contact"] == "mailto:security@example.com"
        assert lines["Canonical"] == f"{settings.BASE_URL}/.well-known/security.txt"
        left = datetime.fromisoformat(lines["Expires"]) - datetime.now(UTC)
        assert timedelta(days=100) < left < timedelta(days=365)

    def test_changes_once_a_day(self, settings: Any) -> None:
        settings.SECURITY_CONTACT = "mailto:security@example.com"
        morning = datetime(2030, 1, 1, 0, 0, 1, tzinfo=UTC)
        assert security_txt(morning) == security_txt(morning + timedelta(hours=23))
        assert security_txt(morning) != security_txt(morning + timedelta(hours=24))

    @pytest.mark.parametrize("value", ["security@example.com", "http://example.com", "mailto:", "mailto:a\nExpires: 1"])
    def test_a_contact_is_an_address(self, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
        monkeypatch.setenv("SECURITY_CONTACT", value)
        with pytest.raises(ImproperlyConfigured, match="SECURITY_CONTACT"):
            env.contact("SECURITY_CONTACT")
