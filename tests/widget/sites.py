"""A simulated host page and app server: every request of the browser is intercepted here."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, Page, Request, Route

from embeds.widget.assets import loader, loader_links, loader_theme
from embeds.widget.ink import ink_on
from embeds.widget.locales import words
from tests.browser import PATIENCE_MS

APP = "https://app.test"
HOST = "https://host.test"
SCRIPT = f"{APP}/embed/v1.js"
CONFIG = {
    "id": "e1",
    "communityId": "c1",
    "domainWhitelist": [],
    "pageRules": {"type": "all", "patterns": []},
    "triggerConfig": {
        "type": "corner-tab",
        "position": "bottom-right",
        "message": "Talk",
        "color": "#114488",
        "size": "medium",
    },
    "status": "active",
}
PANEL = """<!doctype html><title>panel</title><button>inside</button><script>
const origin = new URLSearchParams(location.hash.slice(1)).get("origin");
window.received = [];
addEventListener("message", (event) => received.push([event.origin, event.data]));
addEventListener("keydown", (event) => event.key === "Escape" && parent.postMessage({ type: "close" }, origin));
parent.postMessage({ type: "ready" }, origin);
</script>"""


def tag(service_id: str = "e1", **attributes: str) -> str:
    """Return the embed code of a site."""
    more = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in attributes.items())
    return f'<script async src="{SCRIPT}" data-service-id="{service_id}"{more}></script>'


def html(body: str = "", head: str = "") -> str:
    start = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>host</title>{head}'
    return f"{start}<main><h1>Host</h1><p>Text.</p>{body}</main>"


def answering(body: str | None) -> Callable[[Route], None]:
    """Return a handler that sends this body to any origin, or nothing."""

    def respond(route: Route) -> None:
        if body is None:
            return route.abort()
        return route.fulfill(body=body, headers={"access-control-allow-origin": "*"})

    return respond


@dataclass
class Site:
    """The responses of the servers, and the requests, events and console messages of the browser."""

    context: BrowserContext
    config: dict[str, Any] = field(default_factory=lambda: json.loads(json.dumps(CONFIG)))
    config_status: int = 200
    configs: dict[str, dict[str, Any]] = field(default_factory=dict)
    page: str = field(default_factory=lambda: html(tag()))
    headers: dict[str, str] = field(default_factory=dict)
    panel: str = PANEL
    requests: list[Request] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    console: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    # The posts by URL; other pages have none.
    posts: dict[str, int] = field(default_factory=dict)
    # Those that one embed shows, where they are not all of these.
    posts_of: dict[str, dict[str, int]] = field(default_factory=dict)
    # The ids of imported posts by embed and anchor.
    imported: dict[tuple[str, str], str] = field(default_factory=dict)
    # The URLs of each request for counts, and its embed.
    counted: list[list[str]] = field(default_factory=list)
    counted_for: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.context.route("**/*", self._respond)
        self.context.on("console", lambda message: self.console.append(message.text))
        self.context.on("weberror", lambda error: self.errors.append(str(error.error)))

    def open(self, url: str = f"{HOST}/") -> Page:
        """Open a host page and wait until the loader has created a trigger or reported why not."""
        page = self.context.new_page()
        self.console.clear()
        page.goto(url)
        self.settle(page)
        return page

    def open_panel(self, url: str = f"{HOST}/") -> Page:
        """Open a host page, press its trigger, and wait for the document of the panel."""
        page = self.open(url)
        page.get_by_role("button", name="Talk").click()
        page.frame_locator("iframe").get_by_role("button").wait_for()
        return page

    def settle(self, page: Page) -> None:
        for _ in range(PATIENCE_MS // 5):
            if self.reports() or page.locator("community-embed").count():
                return
            page.wait_for_timeout(5)
        raise AssertionError("The loader neither created a trigger nor reported why not.")

    def wait_for_events(self, page: Page, count: int) -> None:
        """Wait for `count` events: beacons are sent asynchronously."""
        for _ in range(PATIENCE_MS // 5):
            if len(self.events) >= count:
                return
            page.wait_for_timeout(5)

    def app_paths(self) -> list[str]:
        """Return the paths of the requests to the app, without events."""
        return [urlsplit(r.url).path for r in self.requests if r.url.startswith(APP) and "/analytics/" not in r.url]

    def reports(self) -> list[str]:
        return [text for text in self.console if "[community-embed]" in text]

    def event_names(self) -> list[str]:
        return [event["event"] for event in self.events]

    def _words(self, config: dict[str, Any], query: str) -> dict[str, Any]:
        """What the service adds for `lang`."""
        color = config["triggerConfig"].get("color", "#2f5bd0")
        return {"words": words(query.removeprefix("lang="))["loader"], "ink": ink_on(color)}

    def _count(self, route: Route) -> None:
        body = json.loads(route.request.post_data or "{}")
        urls, embed_id = body["urls"], body["embedId"]
        self.counted.append(urls)
        self.counted_for.append(embed_id)
        posts = self.posts_of.get(embed_id, self.posts)
        is_page = {url: url.startswith("http") for url in urls}
        counts = [
            {"url": url, "pageId": "p1" if is_page[url] else None, "posts": posts.get(url, 0), "replies": 0}
            for url in urls
        ]
        headers = {"content-type": "application/json", "access-control-allow-origin": "*"}
        route.fulfill(body=json.dumps({"counts": counts}), headers=headers)

    def _respond(self, route: Route) -> None:
        request = route.request
        path = urlsplit(request.url).path
        self.requests.append(request)
        if not request.url.startswith(APP):
            route.fulfill(
                body=self.page, content_type="text/html", headers={"content-type": "text/html", **self.headers}
            )
        elif path == "/embed/v1.js":
            route.fulfill(body=loader().plain.decode(), content_type="text/javascript")
        elif path.startswith("/api/embeds/config/"):
            service_id = path.rsplit("/", 1)[1]
            config = {**self.config, **self.configs.get(service_id, {}), "id": service_id}
            body = json.dumps(config | self._words(config, urlsplit(request.url).query))
            route.fulfill(
                status=self.config_status,
                body=body,
                headers={"content-type": "application/json", "access-control-allow-origin": "*"},
            )
        elif path in {"/embed/theme.js", "/embed/links.js"}:
            module = loader_theme() if path == "/embed/theme.js" else loader_links()
            headers = {"content-type": "text/javascript", "access-control-allow-origin": "*"}
            route.fulfill(body=module.plain.decode(), headers=headers)
        elif path == "/v1/imported":
            asked = json.loads(request.post_data or "{}")
            found = self.imported.get((asked["embedId"], asked["anchor"]))
            headers = {"content-type": "application/json", "access-control-allow-origin": "*"}
            route.fulfill(body=json.dumps({"messageId": found}), headers=headers)
        elif path == "/v1/presence/counts":
            self._count(route)
        elif path == "/embed/panel":
            route.fulfill(body=self.panel, content_type="text/html")
        elif path == "/api/embeds/analytics/events":
            self.events.append(json.loads(request.post_data or "{}"))
            route.fulfill(status=201, body='{"accepted": true}', headers={"access-control-allow-origin": "*"})
        else:
            route.fulfill(status=404)
